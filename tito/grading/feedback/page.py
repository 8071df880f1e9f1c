"""A student's page as HTML: one file, no script, nothing loaded from anywhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tito.grading.feedback import markdown
from tito.grading.feedback.gather import Feedback
from tito.grading.sandbox import is_isolating
from tito.notebook.points import display


def page(feedback: Feedback) -> str:
    """The HTML of one student's page. What the student wrote is escaped, whatever it is."""
    isolated = is_isolating(feedback.isolation)
    return str(_template().render(feedback=feedback, isolated=isolated))


@cache
def _template() -> Any:
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["points"] = lambda value: "–" if value is None else display(value)
    # Its output is safe by construction: see markdown.py.
    environment.filters["markdown"] = lambda text: Markup(markdown.html(text))
    return environment.get_template("page.html")

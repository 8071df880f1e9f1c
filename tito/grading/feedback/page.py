"""A student's page as HTML: one file, no script, nothing loaded from anywhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tito.grading.feedback import markdown
from tito.grading.feedback.gather import Feedback
from tito.grading.pages import template
from tito.grading.sandbox import is_isolating


def page(feedback: Feedback) -> str:
    """The HTML of one student's page. What the student wrote is escaped, whatever it is."""
    isolated = is_isolating(feedback.isolation)
    return str(_template().render(feedback=feedback, isolated=isolated, html=_html))


def _html(text: str) -> Any:
    """Markdown as HTML that the template takes as it is: see markdown.py for why it may."""
    from markupsafe import Markup

    return Markup(markdown.html(text))


@cache
def _template() -> Any:
    return template(Path(__file__).parent)

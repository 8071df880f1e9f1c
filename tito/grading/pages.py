"""HTML pages that stand alone: from a template beside the code that fills it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tito.notebook.points import display


def template(folder: Path) -> Any:
    """`page.html` of a folder; whatever is put in is escaped, a forgotten name is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["points"] = lambda value: "–" if value is None else display(value)
    environment.filters["percent"] = lambda value: "–" if value is None else f"{value:.0%}"
    return environment.get_template("page.html")

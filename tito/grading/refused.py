"""What nbgrader offers to do by itself in a class folder, and must not: two clicks in formgrader.

Autograde would run a student's code with the grader's rights, beside the hidden tests, and replace
what the judge found. Generate Feedback would show the hidden tests, on pages that lie where ours
do. nbgrader_config.py of a class folder names a class of here as the exporter of each: that is made
first of all, before anything is removed, run or written.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbconvert.exporters import NotebookExporter

NOTHING = "Nothing was run or changed. nbgrader's"
WHY = {
    "Autograde": f"{NOTHING} Autograde would run the student's code with your rights, beside the "
    "hidden tests. Grade with: tito grade run (--again: what is unchanged, too)",
    "GenerateFeedback": f"{NOTHING} feedback would show the hidden tests. Make pages without them "
    "with: tito grade feedback",
}


@cache
def _exporter(name: str) -> type[NotebookExporter]:
    """The class is made when it is asked for: to import nbconvert takes its time."""
    from nbconvert.exporters import NotebookExporter
    from nbgrader.converters.base import NbGraderException

    class Refused(NotebookExporter):
        """Cannot be made."""

        def __init__(self, *args: Any, parent: Any = None, **more: Any) -> None:
            if parent is not None:
                parent.log.error(WHY[name])
            raise NbGraderException(WHY[name])

    Refused.__module__, Refused.__qualname__ = __name__, name
    return Refused


def __getattr__(name: str) -> Any:
    if name in WHY:
        return _exporter(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

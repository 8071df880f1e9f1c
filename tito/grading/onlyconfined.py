"""nbgrader's own Autograde, refused in a class folder.

A click on its bolt in formgrader would run a student's code with the grader's rights, beside the
hidden tests, and replace what the judge found. nbgrader_config.py of a class folder names
`tito.grading.onlyconfined.Refuse` as Autograde's exporter: that is made before anything of the
hand-in is removed or run.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbconvert.exporters import NotebookExporter

WHY = (
    "Nothing was run or changed. nbgrader's Autograde would run the student's code with your "
    "rights, beside the hidden tests. Grade with: tito grade run (--again: what is unchanged, too)"
)


@cache
def _exporter() -> type[NotebookExporter]:
    """The class is made when it is asked for: to import nbconvert takes its time."""
    from nbconvert.exporters import NotebookExporter
    from nbgrader.converters.base import NbGraderException

    class Refuse(NotebookExporter):
        """Cannot be made."""

        def __init__(self, *args: Any, parent: Any = None, **more: Any) -> None:
            if parent is not None:
                parent.log.error(WHY)
            raise NbGraderException(WHY)

    Refuse.__module__ = __name__
    return Refuse


def __getattr__(name: str) -> Any:
    if name == "Refuse":
        return _exporter()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

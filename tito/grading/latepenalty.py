"""The late rule of course.toml as nbgrader's own plugin applies it.

nbgrader_config.py of a class folder names `tito.grading.latepenalty.LatePenalty`: what nbgrader
takes off when it grades itself is then what we take off.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tito.grading.classroom import read_late_rule
from tito.notebook.points import exact

if TYPE_CHECKING:
    from nbgrader.plugins import BasePlugin


def penalty(settings: Path, score: float, seconds_late: float) -> Fraction:
    """The points that the rule in course.toml takes off a score."""
    return read_late_rule(settings).penalty(exact(score), seconds_late)


@cache
def _plugin() -> type[BasePlugin]:
    """The class is made when it is asked for: to import nbgrader takes seconds."""
    from nbgrader.plugins import BasePlugin
    from traitlets import Unicode

    class LatePenalty(BasePlugin):
        """Takes off what `[late]` in course.toml says."""

        settings = Unicode("course.toml", help="The class's course.toml.").tag(config=True)

        def late_submission_penalty(
            self, student_id: str, score: float, total_seconds_late: float
        ) -> float | None:
            """The points to take off; None for none."""
            return float(penalty(Path(self.settings), score, total_seconds_late)) or None

    LatePenalty.__module__ = __name__
    return LatePenalty


def __getattr__(name: str) -> Any:
    if name == "LatePenalty":
        return _plugin()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

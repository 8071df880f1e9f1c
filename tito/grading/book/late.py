"""What a late hand-in loses: asked of the plugin that nbgrader would ask."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.grading.book.database import tables
from tito.grading.classroom import CONFIG


class LatePenalty:
    """The class's late-penalty plugin; loaded when the first late hand-in comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plugin: Any = None

    def __call__(self, student: str, score: float, seconds_late: float) -> float | None:
        """What is taken off `score`; None where nothing is."""
        with _inside(self._folder):
            if self._plugin is None:
                self._plugin = _plugin(self._folder)
            return self._plugin.late_submission_penalty(student, score, seconds_late)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """nbgrader grades with the class folder as the current one, and plugins may count on it."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _plugin(folder: Path) -> Any:
    """An instance of what nbgrader_config.py names, with the parents that nbgrader gives it."""
    tables()
    from nbgrader.converters import Autograde
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.preprocessors import AssignLatePenalties
    from traitlets.config import Config, PyFileConfigLoader

    path = folder / CONFIG
    try:
        loader = PyFileConfigLoader(CONFIG, path=str(folder))
        config = loader.load_config() if path.is_file() else Config()
        coursedir = CourseDirectory(root=str(folder), config=config)
        converter = Autograde(coursedir=coursedir, config=config)
        assign = AssignLatePenalties(parent=converter, config=config)
        assign.init_plugin()
    except Exception as error:  # a file of the instructor's own can fail in any way
        raise UserError(
            f"the late-penalty plugin that it names cannot be used: {error}", path=path
        ) from None
    return assign.plugin_inst

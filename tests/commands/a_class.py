"""A course with one small module, and a class that has handed it in."""

from __future__ import annotations

from pathlib import Path

from tests.grading.book.sample import COURSE, MASTER, NAME, Class
from tito import cli


class Taught:
    """The class folder beside its course; `text` is the module as it stands there."""

    def __init__(self, folder: Path) -> None:
        self._look(folder)
        (self.course / "tinykernels").mkdir(parents=True)
        (self.course / "tinykernels" / "__init__.py").write_text("")
        self.module.parent.mkdir(parents=True)
        self.set(MASTER)
        self.own = Class(folder / "class")
        self.own.root.joinpath("course.toml").write_text('course = "../course"\n' + COURSE)
        self.own._look(self.own.root)

    @classmethod
    def at(cls, folder: Path) -> Taught:
        """The class and the course that are there."""
        taught = cls.__new__(cls)
        taught._look(folder)
        taught.own = Class.at(folder / "class")
        return taught

    def _look(self, folder: Path) -> None:
        self.course = folder / "course"
        self.module = self.course / "modules" / NAME / f"{NAME}.py"

    def set(self, text: str) -> None:
        self.module.write_text(text, encoding="utf-8")

    def tito(self, *words: str) -> int:
        """A command on the class folder; its exit code."""
        return cli.main(["grade", *words, "--class", str(self.own.root)])

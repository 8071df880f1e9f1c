"""Cells and what they are for. Nothing here reads a file or runs code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from tito.notebook import points
from tito.notebook.directives import Directive, directives

HIDDEN_TAG = "hidden-tests"


class Role(StrEnum):
    """What a cell is for; decides where it runs when a notebook is graded."""

    GIVEN = "given"
    MEASURE = "measure"
    SOLUTION = "solution"
    TEST = "test"
    REFLECTION = "reflection"
    TEXT = "text"


# What both halves of a pair hold of a cell's metadata.
KEPT_METADATA = ("nbgrader", "tags", "jupyter")


@dataclass
class Cell:
    """One cell. `index` counts from 1, as people do; `line` is its first line in a .py file."""

    kind: str  # "code", "markdown" or "raw"
    source: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    outputs: list[Any] = field(default_factory=list)
    index: int = 0
    line: int | None = None

    @property
    def kept_metadata(self) -> dict[str, Any]:
        """What both halves of a pair hold of the metadata; without what is empty."""
        return {k: self.metadata[k] for k in KEPT_METADATA if self.metadata.get(k)}

    @property
    def nbgrader(self) -> dict[str, Any]:
        """nbgrader's metadata; empty where there is none or it is no dictionary."""
        value = self.metadata.get("nbgrader")
        return value if isinstance(value, dict) else {}

    @property
    def grade_id(self) -> str | None:
        value = self.nbgrader.get("grade_id")
        return value if isinstance(value, str) and value else None

    @property
    def graded(self) -> bool:
        return self.nbgrader.get("grade") is True

    @property
    def solution(self) -> bool:
        return self.nbgrader.get("solution") is True

    @property
    def task(self) -> bool:
        return self.nbgrader.get("task") is True

    @property
    def manual(self) -> bool:
        """Graded by a person: an answer that carries points itself, or a task."""
        return self.task or (self.graded and self.solution)

    @property
    def points(self) -> Fraction | None:
        """The points of a graded cell; None where it has none or they are no number."""
        if not (self.graded or self.task):
            return None
        value = self.nbgrader.get("points", 0)
        return None if points.problem(value) else points.exact(value)

    @property
    def tags(self) -> list[str]:
        value = self.metadata.get("tags")
        return [t for t in value if isinstance(t, str)] if isinstance(value, list) else []

    @property
    def hidden(self) -> bool:
        return HIDDEN_TAG in self.tags

    @property
    def directives(self) -> list[Directive]:
        return directives(self.source) if self.kind == "code" else []

    def directive(self, name: str) -> Directive | None:
        return next((d for d in self.directives if d.name == name), None)

    @property
    def role(self) -> Role:
        if self.kind != "code":
            answers = self.kind == "markdown" and (self.solution or self.task)
            return Role.REFLECTION if answers else Role.TEXT
        if self.solution:
            return Role.SOLUTION
        if self.graded:
            return Role.TEST
        return Role.MEASURE if self.directive("measure") else Role.GIVEN

    @property
    def label(self) -> str:
        """How messages name the cell: its place and, where it has one, its grade_id."""
        return f"cell {self.index} ({self.grade_id})" if self.grade_id else f"cell {self.index}"


@dataclass
class Notebook:
    """A module or a hand-in: its cells in order, and remarks on how it had to be read."""

    cells: list[Cell]
    metadata: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        number(self.cells)

    @property
    def name(self) -> str:
        return self.path.stem if self.path else "notebook"

    def by_id(self, grade_id: str) -> Cell | None:
        return next((c for c in self.cells if c.grade_id == grade_id), None)

    def of_role(self, *roles: Role) -> list[Cell]:
        return [c for c in self.cells if c.role in roles]

    @property
    def default_exp(self) -> str | None:
        """The module of the package that this notebook builds, e.g. "loops"."""
        for cell in self.cells:
            if directive := cell.directive("default_exp"):
                return directive.value
        return None


def number(cells: Iterable[Cell]) -> None:
    """Give the cells their place, from 1."""
    for index, cell in enumerate(cells, 1):
        cell.index = index


@dataclass(frozen=True)
class Exercise:
    """A solution cell and the test cells up to the next solution cell."""

    solution: Cell
    tests: list[Cell]
    number: int


def exercises(notebook: Notebook) -> list[Exercise]:
    """The exercises of a module, numbered from 1 as its texts do."""
    found: list[Exercise] = []
    for cell in notebook.cells:
        if cell.role is Role.SOLUTION:
            found.append(Exercise(cell, [], len(found) + 1))
        elif cell.role is Role.TEST and found:
            found[-1].tests.append(cell)
    return found


_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]+")


def safe_id(text: str) -> str:
    """`text` as a cell id: letters, digits, - and _, at most 64."""
    return _UNSAFE.sub("-", text)[:64].strip("-") or "cell"

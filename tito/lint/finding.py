"""What a rule reports, and the table of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tito.notebook import Cell

if TYPE_CHECKING:
    from tito.lint.module import Module

ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True)
class Hit:
    """One place that breaks a rule; `line` counts in the cell, in the file where there is none."""

    message: str
    cell: Cell | None = None
    line: int | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Finding:
    """A hit with its rule and file, as `tito lint` prints it.

    line      : counts in the cell; in the file where no cell is named
    file_line : the same line in the .py, for the editor
    """

    rule: str
    path: str
    cell: str | None
    line: int | None
    message: str
    hint: str | None = None
    level: str = ERROR
    text: str | None = None
    file_line: int | None = None

    @property
    def is_error(self) -> bool:
        return self.level == ERROR

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.path, self.cell, self.line) if p is not None)
        where = f", line {self.file_line} of the file" if self.file_line else ""
        lines = [f"{place}: {self.level}: {self.message} [{self.rule}{where}]"]
        if self.text:
            lines.append("    " + self.text.strip())
        if self.hint:
            lines.append("  try: " + self.hint)
        return "\n".join(lines)


Check = Callable[["Module"], Iterable[Hit]]


@dataclass(frozen=True)
class Rule:
    """A check with its name.

    grading : also for a foreign master: grading with a file that breaks it would be wrong
    """

    name: str
    check: Check
    level: str
    grading: bool


RULES: list[Rule] = []


def rule(name: str, *, level: str = ERROR, grading: bool = False) -> Callable[[Check], Check]:
    """Enter a function into the table of rules."""

    def enter(check: Check) -> Check:
        RULES.append(Rule(name, check, level, grading))
        return check

    return enter

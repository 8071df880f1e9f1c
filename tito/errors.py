"""The one family of errors that belong to the user: what, where, and what to do next."""

from __future__ import annotations

from pathlib import Path


class UserError(Exception):
    """A mistake that the reader of the message can mend; shown without a traceback.

    message : what is wrong, in one sentence
    path    : the file
    cell    : the cell as people find it, e.g. "cell 3 (relu_loops)"
    line    : line number in the cell (in the file where there is no cell), from 1
    text    : the offending line
    hint    : what to do next
    code    : exit code of the command, 1 for a failure, 2 for wrong usage or a missing path

    >>> str(UserError("does not parse", path="a.py", cell="cell 2", line=3, text="x = ("))
    'a.py:cell 2:3: does not parse\\n    x = ('
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        cell: str | None = None,
        line: int | None = None,
        text: str | None = None,
        hint: str | None = None,
        code: int = 1,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.cell = cell
        self.line = line
        self.text = text
        self.hint = hint
        self.code = code

    @property
    def place(self) -> str:
        """`path:cell:line`, of the parts that are known."""
        parts = [str(p) for p in (self.path, self.cell, self.line) if p is not None]
        return ":".join(parts)

    def __str__(self) -> str:
        place = self.place
        lines = [f"{place}: {self.message}" if place else self.message]
        if self.text is not None:
            lines.append("    " + self.text.strip("\n"))
        if self.hint is not None:
            lines.append("  try: " + self.hint)
        return "\n".join(lines)


class UsageError(UserError):
    """A wrong option or a path that is not there: exit code 2."""

    def __init__(self, message: str, **where) -> None:
        super().__init__(message, **{"code": 2, **where})


class Problems(UserError):
    """Several user errors found in one pass, shown one under the other."""

    def __init__(self, problems: list[UserError], code: int = 1) -> None:
        super().__init__(f"{len(problems)} problems", code=code)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(str(p) for p in self.problems)

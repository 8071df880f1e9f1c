"""From a master to what students get: no solutions, hidden tests, marks schemes, outputs.

The regions are nbgrader's, and so is what stands in their place: `nbgrader generate_assignment`
makes the same sources. Two things are stricter here: text in a string is no marker, and a marker
that nbgrader would overlook or mend by guessing is an error that names the cell.
"""

from __future__ import annotations

import copy
import io
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tito.errors import Problems, UserError
from tito.notebook import Cell, Notebook
from tito.notebook.points import display

CODE_STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
TEXT_STUB = ("YOUR ANSWER HERE",)

SOLUTION = "SOLUTION"
HIDDEN_TESTS = "HIDDEN TESTS"
MARK_SCHEME = "MARK SCHEME"

# What an author means as a marker, alone on its line or in its comment: any case, any blanks.
_MEANT = re.compile(
    r"[\s#*<!-]*(?P<edge>BEGIN|END)[\s_-]*"
    r"(?P<kind>SOLUTION|HIDDEN[\s_-]*TEST|MARK(?:ING)?[\s_-]*SCHEME)S?[\s#*>:.-]*",
    re.IGNORECASE,
)
_ATTACHMENT = re.compile(r"!\[.*\]\(attachment:.+?\)")


@dataclass(frozen=True)
class Region:
    """The lines of a marked part of a cell, from 1: those of its two markers."""

    begin: int
    end: int

    def __contains__(self, line: int) -> bool:
        return self.begin <= line <= self.end


def student_version(notebook: Notebook) -> Notebook:
    """The notebook as it is handed out: everything below, in nbgrader's order."""
    return clear_outputs(strip_marks(strip_hidden_tests(strip_solutions(notebook))))


def strip_solutions(notebook: Notebook) -> Notebook:
    """Solution regions as stubs; a solution cell without a region becomes a stub as a whole."""
    return _each_cell(notebook, _without_solution)


def strip_hidden_tests(notebook: Notebook) -> Notebook:
    """Without hidden regions; a cell with the tag `hidden-tests` keeps comments only."""
    return _each_cell(notebook, _without_hidden_tests)


def strip_marks(notebook: Notebook) -> Notebook:
    """Without the marks schemes of tasks that people grade."""
    return _each_cell(notebook, _without_marks)


def clear_outputs(notebook: Notebook) -> Notebook:
    """Without anything that running the cells left in them."""
    return _each_cell(notebook, lambda cell: cell.source, outputs=False)


def regions(cell: Cell, kind: str = SOLUTION) -> list[Region]:
    """The marked parts of a cell, in order; UserError for markers that make no pair."""
    found: list[Region] = []
    begin: tuple[int, str] | None = None
    for number, line in _marker_lines(cell, kind):
        opens, closes = f"BEGIN {kind}" in line, f"END {kind}" in line
        if opens and closes:
            raise UserError("two markers on one line", line=number, text=line)
        elif opens and begin:
            raise UserError(
                f"BEGIN {kind} inside the region that line {begin[0]} opens",
                line=number,
                text=line,
                hint=f"close the first one with ### END {kind}",
            )
        elif opens:
            begin = (number, line)
        elif begin is None:
            raise UserError(f"END {kind} without a BEGIN above it", line=number, text=line)
        else:
            found.append(Region(begin[0], number))
            begin = None
    if begin:
        raise UserError(
            f"BEGIN {kind} without an END",
            line=begin[0],
            text=begin[1],
            hint=f"add a line ### END {kind} where the region ends",
        )
    return found


def _marker_lines(cell: Cell, kind: str) -> list[tuple[int, str]]:
    """(number, line) of each marker of `kind`; UserError for one that nbgrader would not know."""
    found = []
    lines = cell.source.split("\n")
    for number, text in _texts(cell):
        if f"BEGIN {kind}" in text or f"END {kind}" in text:
            found.append((number, lines[number - 1]))
        elif (match := _MEANT.fullmatch(text)) and _is_kind(match["kind"], kind):
            raise UserError(
                "nbgrader would not know this marker, and students would see what it hides",
                line=number,
                text=lines[number - 1],
                hint=f"write ### {match['edge'].upper()} {kind}",
            )
    return found


def _is_kind(written: str, kind: str) -> bool:
    words = re.sub(r"[\s_-]+", " ", written.upper()).replace("MARKING", "MARK")
    return kind.replace(" ", "").startswith(words.replace(" ", ""))


def _texts(cell: Cell) -> list[tuple[int, str]]:
    """(number, text) of all that may be a marker: in code the comments, elsewhere every line."""
    if cell.kind != "code":
        return list(enumerate(cell.source.split("\n"), 1))
    return _comments(cell.source)


@lru_cache(maxsize=1024)
def _comments(source: str) -> list[tuple[int, str]]:
    """(number, text) of the comments in code; worked out once, and never changed by a caller."""
    lines = list(enumerate(source.split("\n"), 1))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        # No Python (a magic, a slip): nothing may leak, so every comment-like line counts.
        return [(n, line) for n, line in lines if line.lstrip().startswith("#")]
    return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]


def _each_cell(
    notebook: Notebook, change: Callable[[Cell], str], *, outputs: bool = True
) -> Notebook:
    """A copy of the notebook with `change(cell)` as the cells' sources."""
    cells, problems = [], []
    for cell in notebook.cells:
        new = copy.deepcopy(cell)
        try:
            new.source = change(cell)
        except UserError as error:
            error.path, error.cell = notebook.path, cell.label
            problems.append(error)
        if not outputs:
            new.outputs = []
        cells.append(new)
    if problems:
        raise problems[0] if len(problems) == 1 else Problems(problems)
    return Notebook(cells, copy.deepcopy(notebook.metadata), notebook.path, list(notebook.notes))


def _without_solution(cell: Cell) -> str:
    found = regions(cell, SOLUTION)
    stub = CODE_STUB if cell.kind == "code" else TEXT_STUB
    if not cell.solution:
        _refuse_outside(cell, found, "a solution region", "a solution cell")
        return cell.source
    return _replace(cell.source, found, stub) if found else "\n".join(stub)


def _without_hidden_tests(cell: Cell) -> str:
    found = regions(cell, HIDDEN_TESTS)
    if not cell.graded:
        _refuse_outside(cell, found, "a hidden-tests region", "a graded cell")
    rest = _replace(cell.source, found, ())
    if not cell.hidden or cell.kind != "code":
        return rest
    return rest if found and _only_comments(rest) else later(cell)


def later(cell: Cell) -> str:
    """What students read in place of a hidden test cell.

    >>> later(Cell("code", "", {"nbgrader": {"grade": True, "points": 3}}))
    '# 3 points, checked after hand-in'
    """
    points = display(cell.points or Fraction(0))
    return f"# {points} {'point' if points == '1' else 'points'}, checked after hand-in"


def _only_comments(source: str) -> bool:
    lines = [s.strip() for s in source.split("\n") if s.strip()]
    return bool(lines) and all(s.startswith("#") for s in lines)


def _without_marks(cell: Cell) -> str:
    found = regions(cell, MARK_SCHEME)
    if not cell.task:
        _refuse_outside(cell, found, "a marks scheme", "a task cell")
    for number, line in enumerate(cell.source.split("\n"), 1):
        if any(number in r for r in found) and _ATTACHMENT.search(line):
            raise UserError(
                "an attachment in a marks scheme stays in the student version",
                line=number,
                text=line,
                hint="embed the picture in the text instead",
            )
    return _replace(cell.source, found, ())


def _refuse_outside(cell: Cell, found: list[Region], what: str, where: str) -> None:
    if found:
        line = found[0].begin
        raise UserError(
            f"{what} outside of {where}",
            line=line,
            text=cell.source.split("\n")[line - 1],
            hint=f"mark the cell as {where} in its nbgrader metadata",
        )


def _replace(source: str, found: list[Region], stub: tuple[str, ...]) -> str:
    """The source with each region replaced by the stub, indented as its BEGIN marker is."""
    lines = source.split("\n")
    for region in reversed(found):
        indent = re.match(r"\s*", lines[region.begin - 1])[0]
        lines[region.begin - 1 : region.end] = [indent + s for s in stub]
    return "\n".join(lines)

"""Rules about nbgrader's metadata and tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tito.lint.finding import Hit, rule
from tito.lint.module import Module
from tito.notebook import Cell, Role
from tito.notebook.model import HIDDEN_TAG

MARKER = re.compile(r"# %%(?![%\w])(.*)")
_KEY = re.compile(r"\b(nbgrader|tags|jupyter)\s*=\s*")
_GRADE_ID = re.compile(r"[a-zA-Z0-9_\-]+")
RAISES_TAG = "raises-exception"


@rule("metadata-json", grading=True)
def metadata_json(module: Module) -> Iterator[Hit]:
    """Metadata of a cell line must be JSON, or Jupytext drops it without a word."""
    for number, rest in _marker_lines(module):
        for match in _KEY.finditer(rest):
            if problem := _json_problem(rest[match.end() :]):
                yield Hit(
                    f"the {match[1]} metadata of {_named(module, number)} is no JSON ({problem}), "
                    "so the cell loses it",
                    line=number,
                    hint='write keys and texts in double quotes: {"grade": true, ...}',
                )


@rule("metadata-place", grading=True)
def metadata_place(module: Module) -> Iterator[Hit]:
    """`[markdown]` stands before the metadata, or the cell turns into code."""
    for number, rest in _marker_lines(module):
        key, kind = _KEY.search(rest), re.search(r"\[(markdown|md|raw)\]", rest)
        if key and kind and key.start() < kind.start():
            yield Hit(
                f"[{kind[1]}] stands after the metadata of {_named(module, number)}, so the cell "
                "is read as code",
                line=number,
                hint=f"# %% [{kind[1]}] {key[1]}=...",
            )


@rule("metadata-dropped", grading=True)
def metadata_dropped(module: Module) -> Iterator[Hit]:
    """What was no JSON when a tool read the cell is kept aside and does nothing."""
    for cell in module.cells:
        if "incorrectly_encoded_metadata" in cell.metadata:
            yield Hit(
                "this cell's metadata was not understood and counts for nothing: "
                f"{cell.metadata['incorrectly_encoded_metadata']}",
                cell,
                hint="write the metadata as JSON again",
            )
        value = cell.metadata.get("nbgrader")
        if value is not None and not isinstance(value, dict):
            yield Hit("the nbgrader metadata is no dictionary", cell)


def _named(module: Module, number: int) -> str:
    """The cell that the cell line opens."""
    below = (c for c in module.cells if c.line is not None and c.line > number)
    cell = next(below, None)
    return cell.label if cell else "this cell line"


def _marker_lines(module: Module) -> Iterator[tuple[int, str]]:
    """(line in the file, rest of the line) of the cell lines that open a cell."""
    lines = (module.text or "").split("\n")
    opening = _opening_lines(module, lines)
    for number, line in enumerate(lines, 1):
        match = MARKER.match(line)
        if match and number in opening:
            yield number, match[1]


def _opening_lines(module: Module, lines: list[str]) -> set[int]:
    """Cell lines that open a cell: the last one above a cell's first line, and any that no cell's
    text holds (a cell may be empty)."""
    texts = {line for c in module.cells for line in c.source.split("\n") if "# %%" in line}
    opening = {n for n, line in enumerate(lines, 1) if MARKER.match(line) and line not in texts}
    for cell in module.cells:
        above = range((cell.line or 0) - 1, 0, -1)
        opening |= set(next(([n] for n in above if MARKER.match(lines[n - 1])), []))
    return opening


def _json_problem(text: str) -> str | None:
    try:
        json.JSONDecoder().raw_decode(text)
    except ValueError as error:
        return str(error).split(":")[0]
    return None


def _wants_id(cell: Cell) -> bool:
    return bool(cell.nbgrader) and any(
        cell.nbgrader.get(key) is True for key in ("grade", "solution", "locked", "task")
    )


@rule("grade-id-missing", grading=True)
def grade_id_missing(module: Module) -> Iterator[Hit]:
    for cell in module.cells:
        if _wants_id(cell) and cell.grade_id is None:
            yield Hit(
                "this cell has nbgrader metadata but no grade_id, so nobody can find it again",
                cell,
                hint='"grade_id": "NAME-test"',
            )


@rule("grade-id-invalid", grading=True)
def grade_id_invalid(module: Module) -> Iterator[Hit]:
    for cell in module.cells:
        if cell.grade_id and not _GRADE_ID.fullmatch(cell.grade_id):
            yield Hit(
                f"grade_id {cell.grade_id!r} holds characters that nbgrader refuses",
                cell,
                hint="letters, digits, - and _ only",
            )


@rule("grade-id-duplicate", grading=True)
def grade_id_duplicate(module: Module) -> Iterator[Hit]:
    first: dict[str, Cell] = {}
    for cell in module.cells:
        if not cell.grade_id:
            continue
        if cell.grade_id in first:
            yield Hit(
                f"grade_id {cell.grade_id!r} is taken by {first[cell.grade_id].label}",
                cell,
                hint="give each cell its own; the id of a copied cell is copied too",
            )
        first.setdefault(cell.grade_id, cell)


@rule("points", grading=True)
def points(module: Module) -> Iterator[Hit]:
    """Points of a graded cell are a whole number from 0 to 100."""
    for cell in module.cells:
        if not (cell.graded or cell.task):
            continue
        if "points" not in cell.nbgrader:
            yield Hit("this graded cell has no points", cell, hint='"points": 2')
            continue
        value = cell.nbgrader["points"]
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not 0 <= value <= 100:
            yield Hit(f"points are {value!r}, not a whole number from 0 to 100", cell)


@rule("points-ungraded")
def points_ungraded(module: Module) -> Iterator[Hit]:
    for cell in module.cells:
        if "points" in cell.nbgrader and not (cell.graded or cell.task):
            yield Hit("points stand on a cell that is not graded", cell, hint='"grade": true')


@rule("flags")
def flags(module: Module) -> Iterator[Hit]:
    """The flags of a cell fit its role; a test that students can edit tests nothing."""
    for cell in module.cells:
        if not cell.nbgrader:
            continue
        if cell.role is Role.TEST and cell.nbgrader.get("locked") is not True:
            yield Hit("a test cell must be locked", cell, hint='"locked": true')
        if cell.role is Role.SOLUTION and cell.nbgrader.get("locked") is True:
            yield Hit("a solution cell must not be locked", cell, hint='"locked": false')
        if cell.nbgrader.get("schema_version") != 3:
            yield Hit("nbgrader's schema_version must be 3", cell, hint='"schema_version": 3')


@rule("manual-code")
def manual_code(module: Module) -> Iterator[Hit]:
    for cell in module.solutions:
        if cell.manual:
            yield Hit(
                "a solution cell that carries points itself waits for a person to grade it",
                cell,
                hint="put the points on test cells below it",
            )


@rule("tag-raises-exception")
def tag_raises_exception(module: Module) -> Iterator[Hit]:
    """Run All goes on past test and measure cells of work not yet done."""
    for cell in module.of(Role.TEST, Role.MEASURE):
        if RAISES_TAG not in cell.tags:
            yield Hit(
                f"a {cell.role} cell needs the tag {RAISES_TAG}: else Run All ends here",
                cell,
                hint=f'tags=["{RAISES_TAG}"] on its cell line',
            )


@rule("tag-hidden-tests")
def tag_hidden_tests(module: Module) -> Iterator[Hit]:
    """The tag decides what students never see."""
    for cell in module.cells:
        named = (cell.grade_id or "").endswith("-hidden")
        if named and not cell.hidden:
            yield Hit(
                f"this cell is called hidden but lacks the tag {HIDDEN_TAG}: students would see it",
                cell,
                hint=f'tags=["{HIDDEN_TAG}", "{RAISES_TAG}"]',
            )
        if cell.hidden and cell.role is not Role.TEST:
            yield Hit(f"the tag {HIDDEN_TAG} counts on test cells only", cell)

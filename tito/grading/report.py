"""Results for people (a table), for programs (JSON) and for spreadsheets (CSV)."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Protocol

from tito.grading.judge.result import GRADED, LATER, MANUAL, PASSED, CellResult, Result
from tito.grading.sandbox import is_isolating
from tito.grading.spreadsheet import plain
from tito.grading.wording import counted, padded
from tito.grading.wording import width as columns
from tito.notebook.points import as_number, display

VERSION = 1
NARROWEST = 60
CUT = "..."


class Graded(Protocol):
    """A student and what came out; rows are read once and need not be kept."""

    @property
    def student(self) -> str: ...

    @property
    def result(self) -> Result: ...


def table(rows: Iterable[Graded], width: int | None = None) -> str:
    """One line for each student: points, and the first thing that went wrong in each question."""
    width = max(width or shutil.get_terminal_size((110, 24)).columns, NARROWEST)
    shown = [(row.student, *_score_and_summary(row.result, width)) for row in rows]
    names = max([len("student"), *(min(columns(student), 32) for student, _, _ in shown)])
    points = max([len("points"), *(len(score) for _, score, _ in shown)])
    lines = [f"{'student':<{names}}  {'points':>{points}}  what happened"]
    for student, score, summary in shown:
        head = f"{padded(_cut(student, names), names)}  {score:>{points}}  "
        lines.append((head + _cut(summary, width - columns(head))).rstrip())
    return "\n".join(lines)


def _score_and_summary(result: Result, width: int) -> tuple[str, str]:
    return f"{display(result.points)}/{display(result.max_points)}", _cut(_summary(result), width)


def _summary(result: Result) -> str:
    if result.status != GRADED:
        return f"{result.status}: {result.reason}"
    parts = _what_went_wrong(result)
    if result.later_points:
        parts.append(f"{display(result.later_points)} points are decided after hand-in")
    if result.deviations:
        parts.append(f"({counted(len(result.deviations), 'note')})")
    return "; ".join(parts)


def _what_went_wrong(result: Result) -> list[str]:
    """The first line of each message, cells with the same one together."""
    cells: dict[str, list[str]] = {}
    for cell in result.automatic:
        if cell.status not in (PASSED, LATER):
            cells.setdefault(_first_line(cell.message) or cell.status, []).append(cell.id)
    return [f"{', '.join(ids)}: {message}" for message, ids in cells.items()]


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _cut(text: str, width: int) -> str:
    text = " ".join(text.split())
    if columns(text) <= width:
        return text
    text = text[:width]
    while len(text) > 1 and columns(text) > width - len(CUT):
        text = text[:-1]
    return text + CUT


def closing(rows: Iterable[Graded]) -> str:
    """How many were graded, and every hand-in that could not be, with a reason to send on."""
    counts: Counter[str] = Counter()
    bad, manual, isolated = [], Fraction(0), True
    for row in rows:
        result = row.result
        counts[result.status] += 1
        if result.status != GRADED:
            bad.append(f"  {row.student}: {result.status}, {result.reason}")
            continue
        manual = max(manual, result.manual_points)
        isolated = isolated and is_isolating(result.isolation)
    total = counts.total()
    lines = [f"{counts[GRADED]} of {counted(total, 'hand-in')} graded"]
    if manual:
        lines[0] += (
            f"; up to {display(manual)} more points in each come by hand, for what was answered"
        )
    if not isolated:
        lines.append("NOT ISOLATED: the code that was graded could read and change your files")
    if bad:
        lines += ["not graded:", *bad]
    return "\n".join(lines)


def details(row: Graded) -> str:
    """All that a single hand-in's result says."""
    result = row.result
    lines = []
    for cell in result.cells:
        points = "-" if cell.points is None else display(cell.points)
        lines.append(f"  {cell.id}: {cell.status}, {points} of {display(cell.max_points)}")
        lines += ["      " + text for text in (cell.message or "").split("\n") if text]
    lines += [f"  note: {text}" for text in [*result.deviations, *result.raised]]
    return "\n".join(lines)


def to_json(rows: Iterable[Graded], notes: list[str] | None = None) -> str:
    """The grading JSON, version 1: the results, and what was passed over while looking."""
    document: dict[str, Any] = {
        "version": VERSION,
        "submissions": [{"student": r.student, **r.result.to_json()} for r in rows],
    }
    if notes:
        document["notes"] = notes
    return json.dumps(document, indent=1) + "\n"


def to_csv(rows: Iterable[Graded]) -> str:
    """One line for each student, one column for each cell, of one module after the other."""
    ids: dict[str, None] = {}
    lines = []
    for row in rows:
        cells = {c.id: _number(c) for c in row.result.cells}
        ids |= dict.fromkeys(cells)
        lines.append((_head(row), cells))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "module", "status", "points", "max_points", "reason", *ids])
    for head, cells in lines:
        writer.writerow([*head, *(cells.get(i, "") for i in ids)])
    return out.getvalue()


def _head(row: Graded) -> list[Any]:
    result = row.result
    return [
        plain(row.student),
        result.module,
        result.status,
        as_number(result.points),
        as_number(result.max_points),
        plain(result.reason or ""),
    ]


def _number(cell: CellResult) -> Any:
    if cell.points is None:
        return MANUAL if cell.status == MANUAL else ""
    return as_number(cell.points)

"""Results for people (a table), for programs (JSON) and for spreadsheets (CSV)."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from typing import Any

from tito.grading.batch import Row
from tito.grading.judge.result import GRADED, LATER, MANUAL, PASSED, Result
from tito.grading.sandbox import is_isolating
from tito.grading.spreadsheet import plain
from tito.notebook.points import as_number, display

VERSION = 1
NARROWEST = 60


def table(rows: list[Row], width: int | None = None) -> str:
    """One line for each student: points, and the first thing that went wrong in each question."""
    width = max(width or shutil.get_terminal_size((110, 24)).columns, NARROWEST)
    names = max([len("student"), *(min(len(r.student), 32) for r in rows)])
    scores = [_score(row) for row in rows]
    points = max([len("points"), *map(len, scores)])
    lines = [f"{'student':<{names}}  {'points':>{points}}  what happened"]
    for row, score in zip(rows, scores):
        head = f"{_cut(row.student, names):<{names}}  {score:>{points}}  "
        lines.append((head + _cut(_summary(row), width - len(head))).rstrip())
    return "\n".join(lines)


def _score(row: Row) -> str:
    return f"{display(row.result.points)}/{display(row.result.max_points)}"


def _summary(row: Row) -> str:
    result = row.result
    if result.status != GRADED:
        return f"{result.status}: {result.reason}"
    parts = _what_went_wrong(result)
    if result.later_points:
        parts.append(f"{display(result.later_points)} points are decided after hand-in")
    if result.deviations:
        count = len(result.deviations)
        parts.append(f"({count} note{'s' if count > 1 else ''})")
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
    return text if len(text) <= width else text[: max(width - 3, 1)] + "..."


def closing(rows: list[Row]) -> str:
    """How many were graded, and every hand-in that could not be, with a reason to send on."""
    counts = Counter(row.result.status for row in rows)
    total = len(rows)
    graded = f"{counts[GRADED]} of {total} hand-in{'s' if total != 1 else ''} graded"
    lines = [graded]
    if manual := max((r.result.manual_points for r in rows), default=0):
        lines[0] += f"; {display(manual)} more points wait for a person"
    if any(r.result.status == GRADED and not is_isolating(r.result.isolation) for r in rows):
        lines.append("NOT ISOLATED: the code that was graded could read and change your files")
    if bad := [r for r in rows if r.result.status != GRADED]:
        lines.append("not graded:")
        lines += [f"  {r.student}: {r.result.status}, {r.result.reason}" for r in bad]
    return "\n".join(lines)


def details(row: Row) -> str:
    """All that a single hand-in's result says."""
    result = row.result
    lines = []
    for cell in result.cells:
        points = "-" if cell.points is None else display(cell.points)
        lines.append(f"  {cell.id}: {cell.status}, {points} of {display(cell.max_points)}")
        lines += ["      " + text for text in (cell.message or "").split("\n") if text]
    lines += [f"  note: {text}" for text in [*result.deviations, *result.raised]]
    return "\n".join(lines)


def to_json(rows: list[Row], notes: list[str] | None = None) -> str:
    """The grading JSON, version 1: the results, and what was passed over while looking."""
    document: dict[str, Any] = {
        "version": VERSION,
        "submissions": [{"student": r.student, **r.result.to_json()} for r in rows],
    }
    if notes:
        document["notes"] = notes
    return json.dumps(document, indent=1) + "\n"


def to_csv(rows: list[Row]) -> str:
    """One line for each student, one column for each cell."""
    ids = [c.id for c in rows[0].result.cells] if rows else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "module", "status", "points", "max_points", "reason", *ids])
    for row in rows:
        result = row.result
        cells = {c.id: c for c in result.cells}
        writer.writerow(
            [
                plain(row.student),
                result.module,
                result.status,
                as_number(result.points),
                as_number(result.max_points),
                plain(result.reason or ""),
                *(_number(cells.get(i)) for i in ids),
            ]
        )
    return out.getvalue()


def _number(cell: Any) -> Any:
    if cell is None or cell.points is None:
        return "" if cell is None or cell.status != MANUAL else MANUAL
    return as_number(cell.points)

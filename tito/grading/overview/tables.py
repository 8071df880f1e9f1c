"""The overview for a terminal, a program and a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from statistics import median

from tito.grading.overview.gather import Overview
from tito.grading.overview.questions import Question
from tito.grading.overview.similar import Likeness
from tito.grading.spreadsheet import plain
from tito.grading.wording import counted

VERSION = 1
MOST_GROUPS = 5
_COLUMNS = ("question", "max_points", "decided", "passed", "partial", "pass_rate", "mean_share")
_MORE = ("said", "most_frequent_message", "ratios", "ratio_low", "ratio_median", "ratio_high")


def to_text(found: Overview) -> str:
    """One line a question, and how many things there are to look at."""
    width = max([len("question"), *(len(q.id) for q in found.questions)])
    lines = [
        f"{found.title}: {counted(found.students, 'student')}, "
        + ", ".join(f"{n} {status}" for status, n in found.statuses.items()),
        f"{'question':<{width}}  passed  partial  most frequent message",
    ]
    for q in found.questions:
        rate = "     -" if q.pass_rate is None else f"{q.pass_rate:6.0%}"
        words = f"{q.said}x {q.message}" if q.message else ""
        lines.append(f"{q.id:<{width}}  {rate}  {q.partial:7}  {words}".rstrip())
    if found.points:
        lines.append(f"points: median {median(found.points):g} of {found.max_points:g}")
    odd = len({oddity.student for oddity in found.oddities})
    remarks = counted(len(found.oddities), "remark")
    lines.append(f"to look at: {remarks} on {counted(odd, 'hand-in')}")
    return "\n".join([*lines, *_alike(found.likeness)])


def _alike(found: Likeness) -> list[str]:
    """Who handed in the same, and the closest pair of those who did not."""
    groups = [*found.same, *found.answers]
    lines = [str(group) for group in groups[:MOST_GROUPS]]
    if len(groups) > MOST_GROUPS:
        lines.append(f"and {len(groups) - MOST_GROUPS} more groups, in the page")
    pair = next((p for p in found.pairs if p.likeness < 1), None)
    if pair is not None:
        lines.append(f"closest pair: {pair.first} and {pair.second}, likeness {pair.likeness:.2f}")
    elif found.compared and not groups:
        lines.append("no two hand-ins are alike")
    return lines


def to_json(found: Overview) -> str:
    """Everything, version 1."""
    document = {"version": VERSION, **asdict(found)}
    for row, question in zip(document["questions"], found.questions):
        row["pass_rate"] = question.pass_rate
    return json.dumps(document, indent=1) + "\n"


def to_csv(found: Overview) -> str:
    """One line a question."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_COLUMNS, *_MORE])
    for q in found.questions:
        writer.writerow(_row(q))
    return out.getvalue()


def _row(q: Question) -> list[object]:
    ends = (q.ratios[0], median(q.ratios), q.ratios[-1]) if q.ratios else ("", "", "")
    numbers = [q.max_points, q.asked, q.passed, q.partial, _rounded(q.pass_rate), _rounded(q.share)]
    return [q.id, *numbers, q.said, plain(q.message or ""), len(q.ratios), *ends]


def _rounded(value: float | None) -> object:
    return "" if value is None else round(value, 4)

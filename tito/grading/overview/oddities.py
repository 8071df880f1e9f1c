"""What in the results asks for a look: changed tests, missing cells, forbidden routes, doubts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tito.grading.judge.result import DIED, FORBIDS, GRADED, MISSING, PASSED, TIMEOUT
from tito.grading.sandbox import is_isolating

MISSING_CELLS = "cells missing"
FORBIDDEN = "forbidden route"
DOUBT = "speed in doubt"
REMARK = "changed or unusual"
NOT_GRADED = "not graded"
NOT_CONFINED = "not confined"
NOTHING_DONE = "nothing written"
NOT_WRITTEN = "not written"
DOES_NOT_RUN = "does not run"
ENDED = "did not end by itself"
# As the judge's messages and deviations say it.
_UNWRITTEN, _ABSENT = "is not written yet", ": not in the hand-in"


@dataclass(frozen=True)
class Oddity:
    """One thing to look at in one hand-in."""

    student: str
    kind: str
    text: str


def oddities(records: Sequence[Mapping[str, Any]]) -> list[Oddity]:
    """All of them, by student in the order given."""
    return [
        Oddity(record["student"], kind, text) for record in records for kind, text in _of(record)
    ]


def _of(record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if record["status"] == MISSING:
        return
    if record["status"] != GRADED:
        yield NOT_GRADED, f"{record['status']}: {record['reason']}"
        return
    absent = [t.partition(_ABSENT)[0] for t in record["deviations"] if _ABSENT in t]
    yield from ((REMARK, text) for text in record["deviations"] if _ABSENT not in text)
    missing = [c for c in record["cells"] if c["status"] == MISSING]
    decided = [c for c in record["cells"] if c["points"] is not None]
    if decided and len(missing) == len(decided):
        yield NOTHING_DONE, "no question has an answer that runs"
    elif missing:
        yield from _unanswered(missing)
    if absent:
        yield MISSING_CELLS, ", ".join(absent)
    for cell in record["cells"]:
        if cell["status"] != PASSED and is_forbidden(cell["message"]):
            yield FORBIDDEN, f"{cell['id']}: {_first_line(cell['message'])}"
        if cell["status"] in (TIMEOUT, DIED):
            yield ENDED, f"{cell['id']}: {_first_line(cell['message'] or cell['status'])}"
        if cell.get("doubt"):
            yield DOUBT, cell["id"]
    if not is_isolating(record["isolation"]):
        yield NOT_CONFINED, "its code ran without a sandbox"


def _unanswered(cells: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    """What nobody wrote yet, and what was written and does not run."""
    unwritten = [c["id"] for c in cells if _UNWRITTEN in (c["message"] or "")]
    if unwritten:
        yield NOT_WRITTEN, ", ".join(unwritten)
    for cell in cells:
        if cell["id"] not in unwritten:
            yield DOES_NOT_RUN, f"{cell['id']}: {_first_line(cell['message'] or MISSING)}"


def is_forbidden(message: str | None) -> bool:
    """Whether a message is the judge's about a forbidden route."""
    return FORBIDS in (message or "")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]

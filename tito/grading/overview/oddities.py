"""What in the results asks for a look: changed tests, missing cells, forbidden routes, doubts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tito.grading.judge.result import FORBIDS, GRADED, MISSING, PASSED
from tito.grading.sandbox import is_isolating

MISSING_CELLS = "cells missing"
FORBIDDEN = "forbidden route"
DOUBT = "speed in doubt"
REMARK = "changed or unusual"
NOT_GRADED = "not graded"
NOT_CONFINED = "not confined"
NOTHING_DONE = "nothing written"


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
    yield from ((REMARK, text) for text in record["deviations"])
    missing = [c["id"] for c in record["cells"] if c["status"] == MISSING]
    decided = [c for c in record["cells"] if c["points"] is not None]
    if decided and len(missing) == len(decided):
        yield NOTHING_DONE, "no question has an answer that runs"
    elif missing:
        yield MISSING_CELLS, ", ".join(missing)
    for cell in record["cells"]:
        if cell["status"] != PASSED and is_forbidden(cell["message"]):
            yield FORBIDDEN, f"{cell['id']}: {_first_line(cell['message'])}"
        if cell.get("doubt"):
            yield DOUBT, cell["id"]
    if not is_isolating(record["isolation"]):
        yield NOT_CONFINED, "its code ran without a sandbox"


def is_forbidden(message: str | None) -> bool:
    """Whether a message is the judge's about a forbidden route."""
    return FORBIDS in (message or "")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]

"""Each graded cell over the whole class: how many passed, and what went wrong most often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tito.grading.judge.result import LATER, MANUAL, PASSED

_NUMBER = re.compile(r"[-+]?\d[\d_.]*(?:e[-+]?\d+)?", re.IGNORECASE)
_DETAIL = ("likely", "try")


@dataclass(frozen=True)
class Question:
    """One graded cell.

    asked    : hand-ins in which it was decided
    passed, partial : of those, with full points and with some of them
    share    : the mean of points / max_points
    message  : the words that were said most often when points were missing, numbers aside
    said     : how often
    ratios   : how many times as fast as its baseline each kernel was, in an open test of speed
    """

    id: str
    max_points: float
    asked: int
    passed: int
    partial: int
    share: float | None
    message: str | None = None
    said: int = 0
    ratios: tuple[float, ...] = ()

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.asked if self.asked else None


def questions(records: Sequence[Mapping[str, Any]]) -> list[Question]:
    """The graded cells in the module's order, over all hand-ins that could be graded."""
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        for cell in record["cells"]:
            cells.setdefault(cell["id"], []).append(cell)
    return [_question(name, found) for name, found in cells.items()]


def _question(name: str, cells: list[Mapping[str, Any]]) -> Question:
    decided = [c for c in cells if c["status"] not in (MANUAL, LATER) and c["points"] is not None]
    most = float(cells[0]["max_points"])
    shares = [c["points"] / most for c in decided] if most else []
    message, said = most_frequent(c["message"] for c in decided if c["points"] < c["max_points"])
    return Question(
        id=name,
        max_points=most,
        asked=len(decided),
        passed=sum(c["status"] == PASSED for c in decided),
        partial=sum(0 < c["points"] < c["max_points"] for c in decided),
        share=sum(shares) / len(shares) if shares else None,
        message=message,
        said=said,
        ratios=tuple(sorted(c["ratio"] for c in cells if c.get("ratio") is not None)),
    )


def most_frequent(messages: Iterable[str | None]) -> tuple[str | None, int]:
    """(an example of the most frequent message, how often); None if there is none.

    Messages that differ in their numbers alone are one: the same mistake on other inputs.
    """
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for message in messages:
        if gist := _gist(message):
            kind = _NUMBER.sub("#", gist)
            kinds[kind] += 1
            examples.setdefault(kind, gist)
    if not kinds:
        return None, 0
    kind, count = kinds.most_common(1)[0]
    return examples[kind], count


def _gist(message: str | None) -> str:
    """What a message says of the cause: its `likely` line, else its `try` line, else its first."""
    lines = [line.strip() for line in (message or "").splitlines() if line.strip()]
    for word in _DETAIL:
        for line in lines:
            if line.startswith(word + " "):
                return line[len(word) :].strip()
    return lines[0] if lines else ""

"""Claims are worth half of an exercise at most, whatever the master's points say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from tito.grading.judge.passes import Outcome
from tito.grading.judge.plan import GradedTest
from tito.grading.judge.result import FAILED, PARTIAL
from tito.notebook.points import display


class ClaimCap:
    """What test cells that ask for claims may still give.

    tests : all of the module
    """

    def __init__(self, tests: Iterable[GradedTest]) -> None:
        self._left: Counter[int | None] = Counter()
        for test in tests:
            self._left[test.exercise] += test.points / 2

    def limit(self, test: GradedTest, outcome: Outcome) -> tuple[Outcome, str | None]:
        """The outcome with the points that count, and a deviation if that are not all."""
        if not outcome.claimed or not outcome.points:
            return outcome, None
        counted = min(outcome.points, self._left[test.exercise])
        self._left[test.exercise] -= counted
        if counted == outcome.points:
            return outcome, None
        said = (
            "what is read inside the student's process is worth half of an exercise at most:"
            f" {display(counted)} of {display(outcome.points)} points count"
        )
        status = PARTIAL if counted else FAILED
        message = "\n".join(filter(None, [outcome.message, said]))
        limited = replace(outcome, status=status, points=Fraction(counted), message=message)
        return limited, f"{test.id}: {said}"

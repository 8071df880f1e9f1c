"""What a grading gives back: points, statuses and reasons, exact and without any secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tito.notebook.points import as_number, exact

# Of a hand-in.
GRADED, BROKEN, MISSING, AMBIGUOUS = "graded", "broken", "missing", "ambiguous"
# Of a cell. "missing" also stands for a solution that is not there or not written yet.
PASSED, PARTIAL, FAILED, ERROR = "passed", "partial", "failed", "error"
TIMEOUT, DIED, MANUAL, LATER = "timeout", "died", "manual", "later"
# Stands in the message of every question that lost its points to a forbidden route.
FORBIDS = "which this exercise forbids"


@dataclass
class CellResult:
    """One graded cell. `points` is None while a person or the hidden tests have to decide.

    doubt : a measured speed could not tell which step it is, so the better one counts
    ratio : how many times as fast as the baseline, in an open test of speed
    """

    id: str
    status: str
    max_points: Fraction
    points: Fraction | None = None
    message: str | None = None
    seconds: float = 0.0
    doubt: bool = False
    ratio: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "status": self.status,
            "points": None if self.points is None else as_number(self.points),
            "max_points": as_number(self.max_points),
            "message": self.message,
            "seconds": round(self.seconds, 3),
            **({"doubt": True} if self.doubt else {}),
            **({} if self.ratio is None else {"ratio": float(f"{self.ratio:.3g}")}),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> CellResult:
        points = None if raw["points"] is None else exact(raw["points"])
        return cls(**{**raw, "points": points, "max_points": exact(raw["max_points"])})


@dataclass
class Result:
    """A hand-in graded against a master.

    reason : why the hand-in could not be graded, one line a TA can send on; None if it was
    before : whose package stood for the modules before this one, "reference" or "own"
    raised : cells outside the tests that ended with an exception; they cost nothing by themselves
    student_seconds, module_seconds : CPU time in the student's functions, and in given and test
        cells, where the caller asked for timing
    """

    status: str = GRADED
    module: str = ""
    cells: list[CellResult] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)
    isolation: list[str] = field(default_factory=list)
    before: str = "reference"
    reason: str | None = None
    raised: list[str] = field(default_factory=list)
    student_seconds: float = 0.0
    module_seconds: float = 0.0

    @property
    def automatic(self) -> list[CellResult]:
        """The cells that tests decide, now or after hand-in."""
        return [c for c in self.cells if c.status != MANUAL]

    @property
    def points(self) -> Fraction:
        return sum((c.points for c in self.automatic if c.points is not None), Fraction(0))

    @property
    def max_points(self) -> Fraction:
        """The automatic maximum; what a person grades is `manual_points`."""
        return sum((c.max_points for c in self.automatic), Fraction(0))

    @property
    def manual_points(self) -> Fraction:
        return sum((c.max_points for c in self.cells if c.status == MANUAL), Fraction(0))

    @property
    def later_points(self) -> Fraction:
        """What hidden tests decide after hand-in."""
        return sum((c.max_points for c in self.cells if c.status == LATER), Fraction(0))

    @property
    def all_passed(self) -> bool:
        """Every test that ran passed, and at least one ran."""
        ran = [c for c in self.automatic if c.status != LATER]
        return self.status == GRADED and bool(ran) and all(c.status == PASSED for c in ran)

    def to_json(self) -> dict[str, Any]:
        total = self.points
        return {
            "module": self.module,
            "status": self.status,
            "reason": self.reason,
            "points": as_number(total),
            "points_exact": str(total),
            "max_points": as_number(self.max_points),
            "manual_points": as_number(self.manual_points),
            "cells": [c.to_json() for c in self.cells],
            "deviations": self.deviations,
            "raised": self.raised,
            "isolation": self.isolation,
            "before": self.before,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Result:
        """What `to_json` wrote; the seconds that timing adds are not in it."""
        kept = ("status", "module", "deviations", "isolation", "before", "reason", "raised")
        cells = [CellResult.from_json(cell) for cell in raw["cells"]]
        return cls(cells=cells, **{name: raw[name] for name in kept})

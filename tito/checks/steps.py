"""From ratios of CPU time to a step: full, half or none, and whether there is doubt.

The ratio of a kernel is the median over the rounds of baseline/kernel. Which step it reaches is
known once an interval for that median lies on one side of every threshold. The interval is the
one of order statistics, as for the sign test: of n sorted ratios the j-th smallest and the j-th
largest hold the median between them with at least 95 % probability, whatever the noise looks
like. One odd round of nine does not move it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tito.machine import INSTRUCTION_SETS

FULL, HALF, NONE = Fraction(1), Fraction(1, 2), Fraction(0)
CONFIDENCE = 0.95
# With fewer rounds no two of the ratios hold the median with that confidence; then the outermost
# ones are taken, and this factor on either side.
FEWEST_FOR_INTERVAL = 6
STRETCH = 1.25

# One number for every CPU, or one for each instruction set that there is a threshold for.
Threshold = float | Mapping[str, float]


@dataclass(frozen=True)
class Steps:
    """Thresholds on this CPU: how many times as fast as the baseline a kernel must be."""

    full: float
    half: float | None = None

    def reached(self, ratio: float) -> Fraction:
        """The share of the points that a ratio earns."""
        if ratio >= self.full:
            return FULL
        return HALF if self.half is not None and ratio >= self.half else NONE


@dataclass(frozen=True)
class Measured:
    """The median of the rounds' ratios, and the interval it lies in."""

    low: float
    median: float
    high: float
    rounds: int

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Measured:
        ordered, n = sorted(ratios), len(ratios)
        median = statistics.median(ordered)
        if n < FEWEST_FOR_INTERVAL:
            return cls(ordered[0] / STRETCH, median, ordered[-1] * STRETCH, n)
        j = rank(n)
        return cls(ordered[j - 1], median, ordered[-j], n)

    def in_doubt(self, steps: Steps) -> bool:
        """Whether a threshold lies inside the interval."""
        return steps.reached(self.low) != steps.reached(self.high)

    def share(self, steps: Steps) -> Fraction:
        """The step that counts: the better one where there is doubt."""
        return steps.reached(self.high)

    def __str__(self) -> str:
        return f"{self.low:.3g} to {self.high:.3g}"


def rank(n: int) -> int:
    """The largest j for which the j-th smallest and largest of n hold the median.

    >>> [rank(n) for n in (6, 9, 12, 20)]
    [1, 2, 3, 6]
    """
    outside, j = 0.0, 0
    while j < n // 2:
        outside += 2 * math.comb(n, j) / 2**n
        if outside > 1 - CONFIDENCE:
            break
        j += 1
    return max(j, 1)


def steps_for(full: Threshold, half: Threshold | None, instructions: str) -> Steps | None:
    """The thresholds of an instruction set; None if there is none for it.

    Raises ValueError for thresholds that cannot be meant.
    """
    for which in INSTRUCTION_SETS:
        found = _steps(full, half, which)
        if found is not None and found.half is not None and not 0 < found.half < found.full:
            raise ValueError(f"half must lie between 0 and full, not {found.half} of {found.full}")
    return _steps(full, half, instructions)


def _steps(full: Threshold, half: Threshold | None, which: str) -> Steps | None:
    wanted = _threshold(full, which)
    return None if wanted is None else Steps(wanted, _threshold(half, which))


def _threshold(value: Threshold | None, which: str) -> float | None:
    if isinstance(value, Mapping):
        unknown = set(value) - set(INSTRUCTION_SETS)
        if unknown or not value:
            known = ", ".join(INSTRUCTION_SETS)
            raise ValueError(f"thresholds stand for {known}, not for {sorted(unknown)}")
        value = value.get(which)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"a threshold is a positive number, not {value!r}")
    return float(value)

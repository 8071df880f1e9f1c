"""A lesson: a ratio that a module teaches, and the band in which it must lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

REPEATS = 5
ROUNDS = 5  # turns that the two sides of a timed lesson take in one repeat

# Called with (repeats done, repeats in all, what is going on).
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Band:
    """Where a ratio must lie, ends included, and what that follows from.

    >>> str(Band(16)), str(Band(0.5, 2)), str(Band(8.5, 8.5))
    ('at least 16', '0.5 to 2', 'exactly 8.5')
    """

    low: float
    high: float = math.inf
    why: str = ""

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.low == self.high:
            return f"exactly {self.low:.4g}"
        if math.isinf(self.high):
            return f"at least {self.low:.3g}"
        return f"{self.low:.3g} to {self.high:.3g}"


@dataclass(frozen=True)
class Lesson:
    """What is compared, and how.

    name     : a few words
    compared : "this / that": the ratio's two sides
    band     : where it must lie
    prepare  : makes the data and returns what measures the ratio once; None where left out
    left_out : why this machine cannot show the lesson
    """

    name: str
    compared: str
    band: Band
    prepare: Callable[[], Callable[[], float]] | None = None
    left_out: str | None = None


@dataclass(frozen=True)
class Outcome:
    """A lesson and its ratio, once for each repeat; none where it was left out."""

    lesson: Lesson
    ratios: tuple[float, ...] = ()

    @property
    def measured(self) -> bool:
        return bool(self.ratios)

    @cached_property
    def percentiles(self) -> tuple[float, float, float]:
        """10th, 50th and 90th of the repeats."""
        low, middle, high = np.percentile(self.ratios, (10, 50, 90))
        return float(low), float(middle), float(high)

    @property
    def median(self) -> float:
        return self.percentiles[1]

    @property
    def spread(self) -> float:
        """(90th - 10th percentile) / median; 0 where nothing was counted in any repeat."""
        low, middle, high = self.percentiles
        return (high - low) / middle if middle else high - low

    @property
    def outside(self) -> tuple[float, ...]:
        """The repeats that left the band."""
        return tuple(ratio for ratio in self.ratios if not self.lesson.band.holds(ratio))


def measure_lessons(
    lessons: Sequence[Lesson],
    repeats: int = REPEATS,
    progress: Progress = lambda done, total, what: None,
) -> list[Outcome]:
    """Each lesson as often as asked; its data live only as long as it is measured."""
    total = repeats * sum(lesson.prepare is not None for lesson in lessons)
    done, outcomes = 0, []
    for lesson in lessons:
        ratios = []
        if lesson.prepare:
            progress(done, total, lesson.name)
            once = lesson.prepare()
            for _ in range(repeats):
                ratios.append(once())
                done += 1
                progress(done, total, lesson.name)
        outcomes.append(Outcome(lesson, tuple(ratios)))
    return outcomes


def nearest(target: float, below: float, above: float, why: str) -> Band:
    """The values that are nearer to the target than to what they must not be, on a scale of ratios.

    >>> str(nearest(2, below=1, above=4, why=""))
    '1.41 to 2.83'
    """
    return Band(math.sqrt(below * target), math.sqrt(target * above), why)

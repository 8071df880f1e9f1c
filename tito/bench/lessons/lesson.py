"""A lesson: a ratio that a module teaches, and the band in which it must lie."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

REPEATS = 5
ROUNDS = 5  # turns that the two sides of a timed lesson take in one sample

# Called with (samples done, samples in all, what is going on).
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
    prepare  : makes the data, and returns what measures the ratio on them; None where left out
    left_out : why this machine cannot show the lesson
    samples  : how often the ratio is measured for one repeat, which is their median
    """

    name: str
    compared: str
    band: Band
    prepare: Callable[[], Callable[[], float]] | None = None
    left_out: str | None = None
    samples: int = 1


@dataclass(frozen=True)
class Outcome:
    """A lesson and what each repeat measured; nothing where it was left out.

    samples : for each repeat the ratios that were measured for it
    """

    lesson: Lesson
    samples: tuple[tuple[float, ...], ...] = ()

    @property
    def measured(self) -> bool:
        return bool(self.samples)

    @cached_property
    def ratios(self) -> tuple[float, ...]:
        """One for each repeat: the median of its samples."""
        return tuple(map(statistics.median, self.samples))

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
    """Each lesson as often as asked, each sample on data of its own.

    All lessons take turns, and the samples of one repeat lie as far apart as the run is long: a
    bad moment of the machine meets few of them, which their median does not see. So it is for a
    bad place in memory, since data that are made anew lie elsewhere.
    """
    turns = [
        (number, repeat)
        for turn in range(max((lesson.samples for lesson in lessons), default=0))
        for repeat in range(repeats)
        for number, lesson in enumerate(lessons)
        if lesson.prepare and turn < lesson.samples
    ]
    samples: dict[tuple[int, int], list[float]] = defaultdict(list)
    for done, (number, repeat) in enumerate(turns):
        lesson = lessons[number]
        progress(done, len(turns), lesson.name)
        samples[number, repeat].append(lesson.prepare()())
    return [
        Outcome(
            lesson,
            tuple(tuple(samples[number, r]) for r in range(repeats) if lesson.prepare),
        )
        for number, lesson in enumerate(lessons)
    ]


def nearest(target: float, below: float, above: float, why: str) -> Band:
    """The values that are nearer to the target than to what they must not be, on a scale of ratios.

    >>> str(nearest(2, below=1, above=4, why=""))
    '1.41 to 2.83'
    """
    return Band(math.sqrt(below * target), math.sqrt(target * above), why)

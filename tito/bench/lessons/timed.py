"""Lessons by the clock: two probes in turn, and the ratio of their CPU times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tito.bench.lessons.lesson import ROUNDS, Band, Lesson
from tito.machine import compare, probes

Calls = tuple[Callable[[], Any], Callable[[], Any]]


def timed(
    name: str,
    compared: str,
    band: Band,
    calls: Callable[[], Calls],
    left_out: str | None = None,
    rounds: int = ROUNDS,
    warm: bool = False,
    samples: int = 1,
) -> Lesson:
    """A lesson whose ratio is (time of the first call) / (time of the second).

    calls        : makes the data and returns the two
    left_out     : why this machine cannot show it; probes that cannot run are found here
    rounds, warm : as for tito.machine.compare, in each sample
    samples      : as for Lesson
    """
    left_out = left_out or probes.missing()
    prepare = None if left_out else lambda: _ratio(*calls(), rounds, warm)
    return Lesson(name, compared, band, prepare, left_out, samples)


def _ratio(
    first: Callable[[], Any], second: Callable[[], Any], rounds: int, warm: bool
) -> Callable[[], float]:
    return lambda: compare(rounds=rounds, warm=warm, first=first, second=second).ratio("second")


def counted(name: str, compared: str, band: Band, count: Callable[[], float]) -> Lesson:
    """A lesson without a clock: `count` returns the ratio itself."""
    return Lesson(name, compared, band, lambda: count)

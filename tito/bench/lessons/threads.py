"""The lessons of module 06: who lets go of the interpreter, balance, lost updates."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tito.bench.lessons.lesson import ROUNDS, Band, Lesson, nearest
from tito.bench.lessons.timed import counted
from tito.bench.lessons.workers import (
    CALLS,
    count_together,
    critical_path,
    gil_ticks,
    one_interpreter_lock,
)
from tito.machine import hardware, probes, timer
from tito.machine.blas import one_thread

UPDATES = 200
RING = 4096  # bytes
HOPS = TURNS = 20_000
# Seconds that are long against the turns of the interpreter lock, 5 ms, and the clock's step.
LONG_ENOUGH = max(0.03, 3 * timer.SHORTEST_SAMPLE)
ONE_CORE = "two threads can overlap only where there are two cores"
NO_LOCK = "this Python has no interpreter lock"


def lessons() -> list[Lesson]:
    """For this machine's cores and this Python."""
    lock, cores = one_interpreter_lock(), hardware.usable_cores()
    return [
        holds_on("a Python loop", lambda: _add_up(range(1000)), lock),
        holds_on("sorted()", lambda: sorted(range(1000)), lock),
        holds_on("NumPy, 100 numbers", _square_root_of(100), lock),
        lets_go("NumPy, 1,000,000 numbers", _square_root_of(1_000_000), lock, cores),
        lets_go("matmul, 256 x 256", _matmul_of(256), lock, cores),
        lets_go("sleep", lambda: time.sleep(0.001), lock, None),
        halves(),
        quarters(),
        blind_clock(),
        lost_updates(),
        private_counts(),
    ]


def holds_on(what: str, call: Callable[[], Any], lock: bool) -> Lesson:
    """A function during which no other thread runs Python."""
    why = "it holds the interpreter until it is done: no other thread runs in between"
    return _ticks(what, call, Band(0, 0, why), None if lock else NO_LOCK)


def lets_go(what: str, call: Callable[[], Any], lock: bool, cores: int | None) -> Lesson:
    """A function during which another thread can run Python."""
    why = "one tick shows that another thread ran during a call"
    left_out = None if lock else NO_LOCK
    return _ticks(what, call, Band(1, why=why), left_out or (ONE_CORE if cores == 1 else None))


def halves() -> Lesson:
    """Work split in two halves."""
    return _split(
        "balance: halves",
        "1/2 : 1/2",
        1 / 2,
        nearest(
            2,
            below=4 / 3,
            above=3,
            why="each of two threads has half of the work: nearer to 2 than to the 4/3 of an uneven"
            " split or the 3 of three threads",
        ),
    )


def quarters() -> Lesson:
    """Work split 1/4 : 3/4."""
    return _split(
        "balance: a quarter",
        "1/4 : 3/4",
        1 / 4,
        nearest(
            4 / 3,
            below=1,
            above=2,
            why="the busier thread has 3/4 of the work: nearer to 4/3 than to 1 (no split) or 2"
            " (halves)",
        ),
    )


def blind_clock() -> Lesson:
    """Pure Python: the CPU clock sees halves, though one waits for the other."""

    def prepare() -> Callable[[], float]:
        turns = TURNS * _times_to_fill(lambda: _add_up(range(TURNS)))
        whole = [lambda: _add_up(range(turns))]
        halves = [lambda: _add_up(range(turns // 2))] * 2
        return lambda: _gain(whole, halves)

    band = nearest(
        2,
        below=1,
        above=4,
        why="CPU time does not see a thread wait: it reads 2, nearer than to 1, for a loop that"
        " gains nothing, since it never lets go of the interpreter",
    )
    return Lesson("the blind clock", _compared("a Python loop", "1/2 : 1/2"), band, prepare)


def lost_updates() -> Lesson:
    """One count for two threads."""
    return counted(
        "lost updates",
        f"2 x {UPDATES} updates: made / left in a shared count",
        Band(2, 2, why="both read the same number before either writes: each pair leaves one"),
        lambda: 2 * UPDATES / count_together(UPDATES, shared=True),
    )


def private_counts() -> Lesson:
    """A count for each thread."""
    return counted(
        "no lost updates",
        f"2 x {UPDATES} updates: made / left in private counts",
        Band(1, 1, why="nobody else writes a thread's own count"),
        lambda: 2 * UPDATES / count_together(UPDATES, shared=False),
    )


def _ticks(what: str, call: Callable[[], Any], band: Band, left_out: str | None) -> Lesson:
    def count() -> float:
        with one_thread():
            return gil_ticks(call)

    compared = f"ticks of another thread during {CALLS} calls"
    return Lesson(f"lock: {what}", compared, band, None if left_out else lambda: count, left_out)


def _split(name: str, parts: str, share: float, band: Band) -> Lesson:
    """Hops of a pointer chase go to two threads, a share of them to one.

    Its ring stays in the first cache, and each hop waits for the one before: what other programs,
    the other thread or the other half of a core do hardly changes how long that takes.
    """

    def prepare() -> Callable[[], float]:
        rings = [probes.PointerChase(RING, seed) for seed in range(2)]
        hops = HOPS * _times_to_fill(lambda: rings[0].run(HOPS))
        first = round(hops * share)
        whole = [lambda: rings[0].run(hops)]
        split = [lambda: rings[0].run(first), lambda: rings[1].run(hops - first)]
        return lambda: _gain(whole, split)

    missing = probes.missing()
    compared = _compared("a compiled loop", parts)
    return Lesson(name, compared, band, None if missing else prepare, missing)


def _compared(work: str, parts: str) -> str:
    return f"{work}: CPU time of one thread / of the busier of two, {parts}"


def _gain(whole: list[Callable[[], Any]], parts: list[Callable[[], Any]]) -> float:
    """One thread's CPU time over that of the busiest of several, the median of some rounds."""
    return statistics.median(critical_path(whole) / critical_path(parts) for _ in range(ROUNDS))


def _times_to_fill(call: Callable[[], Any]) -> int:
    """So many calls that the clock can be trusted."""
    return max(1, round(LONG_ENOUGH / timer.time_call(call, repeats=1).best))


def _add_up(numbers: range) -> int:
    total = 0
    for number in numbers:
        total += number
    return total


def _square_root_of(length: int) -> Callable[[], Any]:
    x = np.ones(length, np.float32)
    return lambda: np.sqrt(x, out=x)


def _matmul_of(side: int) -> Callable[[], Any]:
    a = np.ones((side, side), np.float32)
    out = np.empty_like(a)
    return lambda: np.matmul(a, a, out=out)

"""Timing by the clock of the thread's own CPU time.

`time.thread_time` counts what this thread computed. It stands still while other programs have the
CPU, so a busy machine hardly moves it; it also stands still while the thread waits, and it does
not see what other threads do. So NumPy's BLAS gets one thread while the timer runs (where it is an
OpenBLAS, which can be told), and work of several threads of your own is not for this timer.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tito.machine.blas import one_thread

clock = time.thread_time

# One sample lasts at least this long: short against patience, long against the clock's step, which
# is a scheduler tick of 15.6 ms on Windows.
SHORTEST_SAMPLE = 0.1 if sys.platform == "win32" else 0.002
FINE = SHORTEST_SAMPLE < 0.01  # so that anything at all is seen to take time
MOST_CALLS = 1_000_000
REPEATS = 7
ROUNDS = 9


@dataclass(frozen=True)
class Timing:
    """How long one call took, in seconds of CPU time.

    best, median : over the samples, each divided by its calls
    spread       : (90th - 10th percentile) / median
    calls        : calls in one sample
    result       : what the last call returned
    """

    best: float
    median: float
    spread: float
    calls: int
    result: Any = None

    def __str__(self) -> str:
        return f"{seconds_text(self.median)} CPU time a call (spread {self.spread:.0%})"

    def __repr__(self) -> str:
        return f"<Timing {self}>"


@dataclass(frozen=True)
class Comparison:
    """Several ways to do one thing, timed in turn.

    timings : name -> Timing
    ratios  : name -> (low, median, high) of the per-round ratio first/this one: how many times
              faster than the first it is; low and high are the 10th and 90th percentile
    """

    timings: dict[str, Timing]
    ratios: dict[str, tuple[float, float, float]]

    def __getitem__(self, name: str) -> Timing:
        return self.timings[name]

    def ratio(self, name: str) -> float:
        """How many times faster than the first one this one is: the median over the rounds."""
        return self.ratios[name][1]

    def __str__(self) -> str:
        width = max(map(len, self.timings))
        first = next(iter(self.timings))
        lines = []
        for name, timing in self.timings.items():
            low, median, high = self.ratios[name]
            line = f"{name:<{width}}  {seconds_text(timing.median):>10}"
            if name != first:
                line += f"  {median:.3g} times as fast as {first} ({low:.3g} to {high:.3g})"
            lines.append(line)
        return "\n".join(lines)

    __repr__ = __str__


def time_call(
    func: Callable, *args: Any, repeats: int = REPEATS, warmup: int = 1, **kwargs: Any
) -> Timing:
    """Time `func(*args, **kwargs)` in seconds of this thread's CPU time.

    repeats : number of samples, at least 1; one sample holds as many calls as fill SHORTEST_SAMPLE
    warmup  : untimed calls before (compilation, first touch of memory)

    >>> time_call(sorted, [3, 1, 2], repeats=3).result
    [1, 2, 3]
    """
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, not {repeats}")
    with one_thread():
        if warmup > 0:
            _sample(func, args, kwargs, warmup)
        calls, samples, result = _calls_per_sample(func, args, kwargs)
        for _ in range(repeats - 1):
            seconds, result = _sample(func, args, kwargs, calls)
            samples.append(seconds / calls)
    return _timing(samples, calls, result)


def compare(*, rounds: int = ROUNDS, warm: bool = False, **thunks: Callable[[], Any]) -> Comparison:
    """Time several functions without arguments, all of them in each round.

    A machine that becomes slower half-way slows all of them, so the ratio of one round is fair.
    The order turns around from round to round: who goes first warms the cache for the next.

    warm : an untimed call before each sample, so that what a large neighbour has pushed out of the
           caches is not counted to the function behind it

    >>> both = compare(rounds=3, slow=lambda: sum(range(2000)), fast=lambda: sum(range(20)))
    >>> both.ratio("fast") > 2
    True
    """
    if len(thunks) < 2 or rounds < 1:
        raise ValueError("compare() takes at least two functions and one round")
    with one_thread():
        calls = {name: _warm_calls(thunk) for name, thunk in thunks.items()}
        samples, results = _rounds(thunks, calls, rounds, warm)
    timings = {name: _timing(samples[name], calls[name], results[name]) for name in thunks}
    first = samples[next(iter(thunks))]
    ratios = {name: _band([a / b for a, b in zip(first, samples[name])]) for name in thunks}
    return Comparison(timings, ratios)


def _warm_calls(thunk: Callable[[], Any]) -> int:
    thunk()
    return _calls_per_sample(thunk, (), {})[0]


def _rounds(
    thunks: dict[str, Callable[[], Any]], calls: dict[str, int], rounds: int, warm: bool = False
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """(samples of each, last result of each); each round runs all, in turned order."""
    samples: dict[str, list[float]] = {name: [] for name in thunks}
    results: dict[str, Any] = {}
    for turn in range(rounds):
        names = list(thunks) if turn % 2 == 0 else list(thunks)[::-1]
        for name in names:
            if warm:
                thunks[name]()
            seconds, results[name] = _sample(thunks[name], (), {}, calls[name])
            samples[name].append(seconds / calls[name])
    return samples, results


def seconds_text(seconds: float) -> str:
    """A time with three digits and the unit that fits: "1.25 ms"."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}" if factor > 1 else f"{seconds:.3g} s"
    return f"{seconds * 1e9:.3g} ns"


def _calls_per_sample(func: Callable, args: tuple, kwargs: dict) -> tuple[int, list[float], Any]:
    """How many calls make a sample long enough; the last try is the first sample."""
    calls = 1
    while True:
        seconds, result = _sample(func, args, kwargs, calls)
        if seconds >= SHORTEST_SAMPLE or calls >= MOST_CALLS:
            return calls, [seconds / calls], result
        # Aim a little above the goal; a clock that did not move at all gives no better idea.
        wanted = calls * 1.2 * SHORTEST_SAMPLE / seconds if seconds > 0 else calls * 10
        calls = min(MOST_CALLS, max(calls * 2, int(wanted)))


def _sample(kernel: Callable, args: tuple, kwargs: dict, calls: int) -> tuple[float, Any]:
    """(seconds, last result) of a number of calls between two readings of the clock."""
    turns = range(calls)
    value = None
    begin = clock()
    for _ in turns:
        value = kernel(*args, **kwargs)
    # Never 0, so that rates and ratios of what is too short for the clock stay numbers.
    return max(clock() - begin, 1e-9), value


def _timing(samples: list[float], calls: int, result: Any) -> Timing:
    low, median, high = _band(samples)
    return Timing(min(samples), median, (high - low) / median, calls, result)


def _band(values: list[float]) -> tuple[float, float, float]:
    """10th percentile, median and 90th percentile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0], statistics.median(values), tenths[8]

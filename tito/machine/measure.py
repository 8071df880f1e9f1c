"""Several rungs, each verified and then timed in turn with the others, window by window.

A window is so many calls that the clock can be trusted. All rungs have one window in each round,
so a machine that slows down slows all of them, and the ratio to the baseline is taken within a
round. What is not right is not timed: a wrong result, a lazy one, a changed input, an exception.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tito.machine import timer
from tito.machine.blas import one_thread
from tito.machine.inputs import Inputs
from tito.machine.rung import Rung

ROUNDS = 5
FEWEST_ROUNDS = 3  # of a measurement that was cut short


@dataclass(frozen=True)
class Measured:
    """What one rung needed, in seconds of CPU time for one call.

    left_out   : why there is no time, None if there is one
    first_call : the first call alone; with Numba it holds the compiling
    samples    : one window a round, divided by its calls
    ratios     : the baseline's window / this one's, round by round: more than 1 is faster
    calls      : calls in one window
    footprint  : bytes of arguments and result
    """

    rung: Rung
    left_out: str | None = None
    first_call: float | None = None
    samples: tuple[float, ...] = ()
    ratios: tuple[float, ...] = ()
    calls: int = 0
    footprint: int = 0

    def percentile(self, percent: float) -> float | None:
        """Over the windows, linear between them."""
        return float(np.percentile(self.samples, percent)) if self.samples else None

    @property
    def seconds(self) -> float | None:
        """The median window."""
        return self.percentile(50)

    @property
    def spread(self) -> float | None:
        """(90th - 10th percentile) / median."""
        if not self.samples:
            return None
        low, middle, high = np.percentile(self.samples, (10, 50, 90))
        return float((high - low) / middle)

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the baseline: the median of the rounds."""
        return float(np.median(self.ratios)) if self.ratios else None

    @property
    def band(self) -> tuple[float, float] | None:
        """10th and 90th percentile of the ratios."""
        if not self.ratios:
            return None
        low, high = np.percentile(self.ratios, (10, 90))
        return float(low), float(high)


@dataclass
class _Runner:
    """One rung while it is measured."""

    rung: Rung
    clock: Callable[[], float]
    left_out: str | None = None
    first_call: float | None = None
    calls: int = 1
    footprint: int = 0
    result: Any = None
    samples: list[float] = field(default_factory=list)

    def prepare(self, window: float) -> None:
        """Call it once apart, verify, and find how many calls fill a window."""
        self.inputs = Inputs(self.rung)
        self.first_call = self._timed(1)
        if self.left_out:
            return
        self.footprint = self.rung.footprint(self.result)
        self._verify()
        while not self.left_out and self.calls < timer.MOST_CALLS:
            seconds = self._timed(self.calls)
            if self.left_out or seconds >= window:
                break
            wanted = 1.2 * window * self.calls / seconds if seconds > 1e-9 else self.calls * 10
            self.calls = min(timer.MOST_CALLS, max(self.calls * 2, math.ceil(wanted)))

    def run_window(self) -> None:
        """One more sample; none, and none of the earlier ones, if the call goes wrong."""
        seconds = self._timed(self.calls)
        self.samples.append(seconds / self.calls)

    def finish(self) -> None:
        """The last result has to be as right as the first."""
        if not self.left_out:
            self._verify()

    def _timed(self, calls: int) -> float:
        turns, func, args, kwargs = range(calls), *self._call()
        start = self.clock()
        try:
            for _ in turns:
                self.result = func(*args, **kwargs)
        except NotImplementedError:
            self.left_out = "not written yet"
        except Exception as error:
            self.left_out = f"failed: {_one_line(error)}"
        # Never 0, so that rates of what is too short for the clock stay numbers.
        seconds = max(self.clock() - start, 1e-9)
        if not self.left_out and _is_lazy(self.result):
            self.left_out = f"returns a {type(self.result).__name__}: its work is not done"
        if self.inputs.changed():
            self.left_out = self.left_out or "changed its input"
            self.inputs.restore()
        return seconds

    def _call(self) -> tuple[Callable[..., Any], tuple[Any, ...], Any]:
        return self.rung.func, self.rung.args, self.rung.kwargs

    def _verify(self) -> None:
        if self.rung.check is None:
            return
        try:
            self.rung.check(self.result)
        except AssertionError:
            self.left_out = "its result is wrong"
        except Exception as error:
            self.left_out = f"its result cannot be checked: {_one_line(error)}"


def measure(
    rungs: Sequence[Rung],
    *,
    baseline: str | None = None,
    rounds: int = ROUNDS,
    window: float | None = None,
    patience: float = math.inf,
    clock: Callable[[], float] | None = None,
    threads: int = 1,
) -> list[Measured]:
    """Verify the rungs, then time them in turns; one Measured a rung, in their order.

    baseline : name of the rung that the ratios are taken to
    window   : seconds that one window lasts at least
    patience : seconds of wall time after which no further round begins; three are always run
    clock    : the thread's CPU time, unless another one is given
    threads  : 1 keeps NumPy's BLAS to this thread. With more, the calls are timed by wall clock,
               for this thread's CPU time does not see what the others do.
    """
    names = [rung.name for rung in rungs]
    if len(set(names)) < len(names):
        raise ValueError("two rungs have the same name")
    if baseline is not None and baseline not in names:
        raise ValueError(f"no rung is called {baseline!r}: {', '.join(names)}")
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
    clock = clock or (timer.clock if threads == 1 else time.perf_counter)
    runners = [_Runner(rung, clock) for rung in rungs]
    with _pinned(threads):
        for runner in runners:
            runner.prepare(timer.SHORTEST_SAMPLE if window is None else window)
        _run_rounds(runners, rounds, patience)
        for runner in runners:
            runner.finish()
    return _results(runners, baseline)


def _run_rounds(runners: list[_Runner], rounds: int, patience: float) -> None:
    """One window each a round. The order turns: who goes first warms the cache for the next."""
    end = time.monotonic() + patience
    for turn in range(rounds):
        if turn >= FEWEST_ROUNDS and time.monotonic() > end:
            break
        for runner in runners if turn % 2 == 0 else runners[::-1]:
            if not runner.left_out:
                runner.run_window()


def _results(runners: list[_Runner], baseline: str | None) -> list[Measured]:
    base = next((r for r in runners if r.rung.name == baseline and not r.left_out), None)
    return [_result(runner, base) for runner in runners]


def _result(runner: _Runner, base: _Runner | None) -> Measured:
    if runner.left_out:
        return Measured(runner.rung, runner.left_out)
    ratios = [a / b for a, b in zip(base.samples, runner.samples, strict=True)] if base else []
    return Measured(
        rung=runner.rung,
        first_call=runner.first_call,
        samples=tuple(runner.samples),
        ratios=tuple(ratios),
        calls=runner.calls,
        footprint=runner.footprint,
    )


def _pinned(threads: int) -> Any:
    from contextlib import nullcontext

    return one_thread() if threads == 1 else nullcontext()


def _is_lazy(result: Any) -> bool:
    """A generator, an iterator, a coroutine, a function: the work is still to be done."""
    return isinstance(result, (Iterator, Awaitable)) or callable(result)


def _one_line(error: BaseException) -> str:
    words = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {words[0]}" if words else type(error).__name__
    return text if len(text) <= 60 else text[:57] + "..."

"""Several rungs, each verified and then timed in turn with the others, window by window.

A window is so many calls that the clock can be trusted. All rungs have one window in each round,
so a machine that slows down slows all of them, and the ratio to the baseline is taken within a
round. What is not right has no time: a wrong result, a lazy one, a changed input, an exception.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tito.machine import timer
from tito.machine.blas import one_thread
from tito.machine.inputs import Inputs, copied, touch
from tito.machine.rung import Rung, arrays_in

ROUNDS = 5
FEWEST_ROUNDS = 3  # of a measurement that was cut short

NOT_WRITTEN = "not written yet"
WRONG = "its result is wrong"
CHANGED = "changed its input"


@dataclass(frozen=True)
class Measured:
    """What one rung needed, in seconds of CPU time for one call.

    left_out   : why there is no time, None if there is one
    first_call : the first call of all, apart, by the clock on the wall; it may compile or load
    samples    : one window a round, divided by its calls; percentiles are of these
    ratios     : the baseline's window / this one's, round by round: more than 1 is faster
    calls      : calls in one window
    footprint  : bytes of arguments and result
    elsewhere  : CPU time of other threads during the windows / CPU time of this one: theirs is
                 not in the samples
    """

    rung: Rung
    left_out: str | None = None
    first_call: float | None = None
    samples: tuple[float, ...] = ()
    ratios: tuple[float, ...] = ()
    calls: int = 0
    footprint: int = 0
    elsewhere: float = 0.0

    def percentile(self, percent: float) -> float | None:
        """Of the windows, linear between them."""
        return float(np.percentile(self.samples, percent)) if self.samples else None

    @property
    def seconds(self) -> float | None:
        """The median window."""
        return self.percentile(50)

    @property
    def spread(self) -> float | None:
        """The middle four fifths of the windows, as a share of their median."""
        if not self.samples:
            return None
        lowest, middle, highest = np.percentile(self.samples, (10, 50, 90))
        return float((highest - lowest) / middle)

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the baseline: the median of the rounds."""
        return float(np.median(self.ratios)) if self.ratios else None

    @property
    def band(self) -> tuple[float, float] | None:
        """10th and 90th percentile of the ratios."""
        if not self.ratios:
            return None
        lowest, highest = np.percentile(self.ratios, (10, 90))
        return float(lowest), float(highest)


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
    patience : seconds of wall time; the round during which they are over is the last, but
               three are always run
    clock    : the thread's CPU time, unless another one is given
    threads  : 1 keeps NumPy's BLAS to this thread. With more, the calls are timed by wall clock,
               for this thread's CPU time does not see what the others do.
    """
    names = [rung.name for rung in rungs]
    if len(set(names)) < len(names):
        raise ValueError(f"two rungs have the same name: {', '.join(names)}")
    if baseline is not None and baseline not in names:
        raise ValueError(f"no rung is called {baseline!r}: {', '.join(names)}")
    if rounds < 1 or threads < 1:
        raise ValueError(f"at least 1 round and 1 thread, not {rounds} and {threads}")
    clock = clock or (timer.clock if threads == 1 else time.perf_counter)
    runners = [_Runner(rung, clock) for rung in rungs]
    with _kept_to(threads):
        for runner in runners:
            others = [other.rung for other in runners if other is not runner]
            runner.take_arguments(list(arrays_in([other.inputs for other in others])))
            runner.prepare(timer.SHORTEST_SAMPLE if window is None else window)
        _run_rounds(runners, rounds, patience)
    base = next((r for r in runners if r.rung.name == baseline and not r.left_out), None)
    return [runner.measured(base) for runner in runners]


def _kept_to(threads: int) -> AbstractContextManager[None]:
    return one_thread() if threads == 1 else nullcontext()


def _run_rounds(runners: list[_Runner], rounds: int, patience: float) -> None:
    """One window each a round. The order turns: who goes first warms the cache for the next."""
    end = time.monotonic() + patience
    for turn in range(rounds):
        last = turn + 1 == rounds or (turn + 1 >= FEWEST_ROUNDS and time.monotonic() > end)
        for runner in runners if turn % 2 == 0 else runners[::-1]:
            if not runner.left_out:
                runner.run_window(last)
        if last:
            break


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
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)
    inputs: Inputs = field(default_factory=lambda: Inputs(()))
    wall: float = 0.0  # of the last calls, by the clock on the wall
    whole: float = 0.0  # CPU time of all threads of the process, in the windows

    def take_arguments(self, read_by_others: list[np.ndarray]) -> None:
        """What the rung writes is a copy where others read it, so that their inputs stay theirs."""

        def own(key: int | str, value: Any) -> Any:
            arrays = list(arrays_in(value)) if key in self.rung.writes else []
            shared = any(np.may_share_memory(a, other) for a in arrays for other in read_by_others)
            return copied(value) if shared else value

        self.args = [own(position, value) for position, value in enumerate(self.rung.args)]
        self.kwargs = {name: own(name, value) for name, value in self.rung.kwargs.items()}
        touch(arrays_in([*self.args, *self.kwargs.values()]))
        self.inputs = Inputs(self.rung.inputs)

    def prepare(self, window: float) -> None:
        """Call it once apart, verify, and find how many calls fill a window."""
        seconds = self._timed()
        # What somebody waits for: compiling and loading may sleep, or use other threads.
        self.first_call = max(seconds, self.wall)
        self._verify()
        self.footprint = self.rung.footprint(self.result)
        while not self.left_out:
            seconds = self._timed()
            if seconds >= window or self.calls >= timer.MOST_CALLS:
                break
            # A little above the goal; a clock that did not move at all gives no better idea.
            wanted = 1.2 * window * self.calls / seconds if seconds > 1e-9 else self.calls * 10
            self.calls = min(timer.MOST_CALLS, max(self.calls * 2, math.ceil(wanted)))
        self.whole = 0.0  # only the windows count

    def run_window(self, last: bool) -> None:
        """One more sample. After the last one the result must be as right as the first."""
        self.samples.append(self._timed() / self.calls)
        if last:
            self._verify()

    def measured(self, base: _Runner | None) -> Measured:
        """What came of it; a rung that went wrong at any time has no samples."""
        if self.left_out:
            return Measured(self.rung, self.left_out)
        ratios = [a / b for a, b in zip(base.samples, self.samples, strict=True)] if base else []
        own = sum(self.samples) * self.calls
        return Measured(
            rung=self.rung,
            first_call=self.first_call,
            samples=tuple(self.samples),
            ratios=tuple(ratios),
            calls=self.calls,
            footprint=self.footprint,
            elsewhere=max(0.0, self.whole / own - 1) if self.clock is timer.clock else 0.0,
        )

    def _timed(self) -> float:
        """Seconds of `calls` calls, at least 1e-9 so that rates and ratios stay numbers."""
        wall, whole, begin = time.perf_counter(), time.process_time(), self.clock()
        try:
            self.result = _called(self.rung.func, self.args, self.kwargs, range(self.calls))
        except (Exception, SystemExit) as error:
            self.left_out = NOT_WRITTEN if _is_stub(error) else f"failed: {one_line(error)}"
        seconds = self.clock() - begin
        self.whole += time.process_time() - whole
        self.wall = time.perf_counter() - wall
        if not self.left_out and _is_lazy(self.result):
            self.left_out = f"returns a {type(self.result).__name__}, which does its work later"
        if self.inputs.changed():
            self.left_out = self.left_out or CHANGED
            self.inputs.restore()
        return max(seconds, 1e-9)

    def _verify(self) -> None:
        if self.left_out or self.rung.check is None:
            return
        try:
            self.rung.check(self.result)
        except AssertionError:
            self.left_out = WRONG
        except Exception as error:
            self.left_out = f"its result cannot be checked: {one_line(error)}"


def _called(kernel: Callable[..., Any], args: Any, kwargs: Any, turns: range) -> Any:
    """The last result of so many calls."""
    for _ in turns:
        value = kernel(*args, **kwargs)
    return value


def _is_lazy(result: Any) -> bool:
    """A generator, an iterator, a coroutine, a function: the work is still to be done."""
    return isinstance(result, (Iterator, Awaitable)) or callable(result)


def _is_stub(error: BaseException | None) -> bool:
    """Whether something was not written yet; threads of Numba hand that on as another's cause."""
    return isinstance(error, NotImplementedError) or bool(error and _is_stub(error.__cause__))


def one_line(error: BaseException, limit: int = 60) -> str:
    """An exception's type and the beginning of what it says."""
    said = str(error).strip().partition("\n")[0]
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return text if len(text) <= limit else text[: limit - 3] + "..."

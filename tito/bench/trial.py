"""One kernel before its time counts: what a call would cost, and whether its result is right.

A call that would take too long is not made: its cost is read at smaller sizes, which grow until
the reading can be trusted. Every reason for which a kernel is left out is a text for the table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tito.bench.sizes import shown
from tito.bench.workload import Dims, Expected, Workload
from tito.checks import CheckFailed, expect_close, expect_equal
from tito.machine.timer import SHORTEST_SAMPLE, seconds_text

# Longer calls are left out, seconds: nobody waits minutes for a table.
LONGEST_CALL = 0.4
# A reading shorter than this says more about the call's fixed cost than about its work.
TRUSTED = 0.005
SMALLEST_EDGE = 8
# Of a call's CPU time, what other threads may take before one thread's clock is no measure of it.
ELSEWHERE = 0.25

NOT_WRITTEN = "not written yet"
CHANGES_INPUT = "wrong result: it changes its input"


@dataclass(frozen=True)
class Contender:
    """A rung or a peer, ready to be called.

    library : the peer's library; None for a rung of the package
    prepare : makes the arguments of the arrays, once, outside the timing
    result  : dtype of a right result, where it is not the workload's
    """

    name: str
    function: Callable[..., Any]
    library: str | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[tuple[np.ndarray, ...]], tuple[Any, ...]] = tuple
    result: np.dtype | None = None

    def call(self, arguments: tuple[Any, ...]) -> Any:
        return self.function(*arguments, **self.kwargs)


@dataclass
class Problem:
    """A workload at one size, with the arrays that every contender gets and the right result."""

    workload: Workload
    dims: Dims

    def __post_init__(self) -> None:
        self.inputs = self.workload.inputs(*self.dims)
        self.expected: Expected = self.workload.specification(*self.inputs)
        self._kept = [array.copy() for array in self.inputs]

    def check(self, result: Any, dtype: np.dtype | None = None) -> None:
        """AssertionError where the result is not the specification's, or an input has changed.

        dtype : of the result, where it is not the workload's; whole numbers have to be exact
        """
        expected, dtype = self.expected, dtype or self.workload.result
        if dtype.kind == "i":
            expect_equal(result, expected.want.astype(dtype))
        else:
            expect_close(
                result, expected.want, inner=expected.inner, scale=expected.scale, dtype=dtype
            )
        changed = [not np.array_equal(now, before) for now, before in zip(self.inputs, self._kept)]
        if any(changed):
            raise AssertionError(CHANGES_INPUT)

    def restore(self) -> None:
        """The inputs as they were: the next contender gets the same."""
        for now, before in zip(self.inputs, self._kept):
            now[...] = before


@dataclass(frozen=True)
class Verdict:
    """What a trial found.

    reason     : why the contender is left out; None where it may be timed
    first_call : seconds by the clock on the wall of the first call of all, which may compile
    """

    reason: str | None = None
    first_call: float | None = None


def attempt(contender: Contender, problem: Problem, threads: int) -> Verdict:
    """Call a contender as it will be timed, after a look at what that costs."""
    first = None
    try:
        first, too_long = _cost(contender, problem)
        if too_long is None:
            arguments = contender.prepare(problem.inputs)
            wall, seconds, result = _timed(contender, arguments)
            first = wall if first is None else first
            problem.check(result, contender.result)
            too_long = _slow(contender, arguments, _limit(problem.workload), seconds)
        if too_long is None and threads == 1:
            too_long = _elsewhere(contender, arguments)
        return Verdict(too_long, first)
    except (Exception, SystemExit) as error:
        problem.restore()
        return Verdict(reason_of(error), first)


def reason_of(error: BaseException) -> str:
    """Why a contender that raised this is left out."""
    if isinstance(error, NotImplementedError):
        return NOT_WRITTEN
    text = _first_line(error)
    if isinstance(error, CheckFailed) or text == CHANGES_INPUT:
        return text if text == CHANGES_INPUT else f"wrong result: {text}"
    return f"raises {type(error).__name__}: {text}" if text else f"raises {type(error).__name__}"


def _first_line(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    return text if len(text) <= 120 else text[:117] + "..."


def _cost(contender: Contender, problem: Problem) -> tuple[float | None, str | None]:
    """(first call of all, why it would take too long or None), from calls at smaller sizes."""
    first = None
    full = _amount(problem.workload, problem.dims)
    for dims in smaller(problem.dims):
        arguments = contender.prepare(problem.workload.inputs(*dims))
        try:
            wall, _, _ = _timed(contender, arguments)
            first = wall if first is None else first
            _, seconds, _ = _timed(contender, arguments)
        except NotImplementedError:
            raise
        except (Exception, SystemExit):
            continue  # what it says of its real size is what counts
        expected = seconds * full / _amount(problem.workload, dims)
        limit = _limit(problem.workload)
        if expected <= limit:
            return first, None
        if seconds >= TRUSTED:
            small = f"{shown(dims)}: {seconds_text(seconds)}"
            return first, _too_long(f"would take {_duration(expected)} a call ({small})", limit)
    return first, None


def smaller(dims: Dims) -> Iterator[Dims]:
    """Sizes below `dims`, from a small cube on; a dimension that is shorter stays as it is."""
    edge = SMALLEST_EDGE
    while edge < max(dims):
        yield tuple(min(length, edge) for length in dims)
        edge *= 2


def _amount(workload: Workload, dims: Dims) -> float:
    work = workload.work(*dims)
    return work.flops or work.nbytes


def _timed(contender: Contender, arguments: tuple[Any, ...]) -> tuple[float, float, Any]:
    """(seconds on the wall, seconds of CPU in all threads, result) of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = contender.call(arguments)
    return time.perf_counter() - wall, time.process_time() - cpu, result


def _limit(workload: Workload) -> float:
    return max(LONGEST_CALL, workload.longest)


def _slow(
    contender: Contender, arguments: tuple[Any, ...], limit: float, seconds: float
) -> str | None:
    """Whether a call that took so long takes too long too when nothing is left to compile."""
    if seconds > 2 * limit:
        _, seconds, _ = _timed(contender, arguments)
    return _too_long(f"takes {_duration(seconds)} a call", limit) if seconds > 2 * limit else None


def _duration(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:,.0f} s"


def _too_long(words: str, limit: float) -> str:
    return f"{words}; the limit is {limit} s"


def _elsewhere(contender: Contender, arguments: tuple[Any, ...]) -> str | None:
    """Why this thread's clock cannot time it; None where all its work is done in this thread."""
    until = time.perf_counter() + LONGEST_CALL
    whole, own = time.process_time(), time.thread_time()
    while time.process_time() - whole < SHORTEST_SAMPLE and time.perf_counter() < until:
        contender.call(arguments)
    whole, own = time.process_time() - whole, time.thread_time() - own
    if whole - own <= ELSEWHERE * whole:
        return None
    return "computes in threads of its own, which one thread's clock does not see: --threads 2"

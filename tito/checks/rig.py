"""Where speed is measured: batches of calls of two functions, and the CPU time each batch takes.

The check itself (`tito.checks.speed`) is the same everywhere. A rig supplies what differs: in a
notebook the two functions run in this thread and its own clock is read; the judge runs them in
two processes and reads their clocks from outside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tito.machine import timer
from tito.machine.blas import one_thread

STUDENT, BASELINE = "student", "baseline"
# In one window. A clock that ticks 64 times a second (Windows) needs long ones.
MOST_CALLS = 64 if timer.FINE else 1024
UNSEEN = 1e-9  # seconds of a window in which the clock did not move: never 0, which makes no ratio
# A clock that stands still, as a virtual machine's does after time that was taken from it, sees
# nothing of a window. It is measured again: some times at once, then each time after a longer pause
# (seconds), and for all windows of a check the pauses take so long at most.
PAUSES = (*[0] * 6, 0.5, 1, 2, 4, 8, 16, 32)
LONGEST_PAUSES = 90.0
# Memory that the arrays of one batch may take.
ROOM = 256 << 20


@dataclass(frozen=True)
class Call:
    """The arguments of one call.

    writes : position or keyword of the array that the function changes in place; None if it
             returns its result
    """

    args: tuple
    kwargs: dict[str, Any]
    writes: int | str | None = None

    def copy(self) -> Call:
        """The same with arrays of its own."""
        return Call(_copied(self.args), _copied(self.kwargs), self.writes)

    def result(self, returned: Any) -> Any:
        """What the call computed, given what it returned."""
        if self.writes is None:
            return returned
        return self.args[self.writes] if type(self.writes) is int else self.kwargs[self.writes]


@dataclass(frozen=True)
class Form:
    """What every result must be: an array of exactly this dtype and shape."""

    dtype: np.dtype
    shape: tuple[int, ...]

    @classmethod
    def of(cls, array: np.ndarray) -> Form:
        return cls(array.dtype, array.shape)

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


@dataclass(frozen=True)
class Window:
    """One batch: CPU seconds, the results, and the inputs as the calls left them."""

    seconds: float
    results: list[Any]
    after: list[Call]

    @property
    def is_seen(self) -> bool:
        """Whether the clock moved in it."""
        return self.seconds > UNSEEN


class Patience:
    """Measures again what the clock saw nothing of; one for all windows of a check.

    seconds : that its pauses may take in all; 0 for a clock so coarse that it sees no short window
    """

    def __init__(self, seconds: float = LONGEST_PAUSES if timer.FINE else 0.0) -> None:
        self._left = seconds

    def until_seen(self, measure: Callable[[], dict[str, Window]]) -> dict[str, Window]:
        """What `measure` gives in the first try of which the clock saw each window, or the last."""
        windows = measure()
        for pause in PAUSES:
            if self._left <= 0 or pause > self._left or are_seen(windows.values()):
                break
            self._left -= pause
            time.sleep(pause)
            windows = measure()
        return windows


def are_seen(windows: Iterable[Window]) -> bool:
    """Whether the clock moved in each of them."""
    return all(window.is_seen for window in windows)


class Rig(Protocol):
    """Two functions ready to be measured.

    reading    : whose clock it is, in words for the message; None where there is no clock that
                 could be trusted, and `run` may not be called
    shortest   : CPU seconds that a window should last at least
    most_calls : in one window
    room       : bytes that the arrays of one window may take
    """

    reading: str | None
    shortest: float
    most_calls: int
    room: int

    def call(self, who: str, call: Call) -> Any:
        """One ordinary call, not measured; its result. Compiles what is compiled late."""

    def run(self, who: str, calls: Sequence[Call], form: Form) -> Window:
        """Call it once for each of the inputs, which it gets as copies; measured."""

    def doubts(self, draw: Callable[[], list[Call]], form: Form, patience: Patience) -> bool:
        """Whether the baseline of the rounds was slow by itself; then there is another now."""

    def renew(self) -> bool:
        """Put the student's function into a fresh process; False if that cannot be done."""


class NotebookRig:
    """Both functions in this thread, its CPU clock around them."""

    reading: str | None = "read in this notebook"
    shortest = timer.SHORTEST_SAMPLE
    most_calls = MOST_CALLS
    room = ROOM

    def __init__(self, functions: dict[str, Callable]) -> None:
        self._functions = functions

    def call(self, who: str, call: Call) -> Any:
        own = call.copy()
        return own.result(self._functions[who](*own.args, **own.kwargs))

    def run(self, who: str, calls: Sequence[Call], form: Form) -> Window:
        func, own = self._functions[who], [call.copy() for call in calls]
        start = timer.clock()
        returned = [func(*call.args, **call.kwargs) for call in own]
        seconds = max(timer.clock() - start, UNSEEN)
        return Window(seconds, [c.result(r) for c, r in zip(own, returned)], own)

    def doubts(self, draw: Callable[[], list[Call]], form: Form, patience: Patience) -> bool:
        return False

    def renew(self) -> bool:
        return False


@contextmanager
def notebook_rig(func: Callable, baseline: Callable) -> Iterator[NotebookRig]:
    """The rig of a notebook. NumPy's BLAS gets one thread: this thread's clock sees no other."""
    with one_thread():
        yield NotebookRig({STUDENT: func, BASELINE: baseline})


def _copied(value: Any) -> Any:
    """The value with its arrays copied, inside lists, tuples and dicts too."""
    if isinstance(value, np.ndarray):
        return np.array(value, order="K")
    if type(value) in (list, tuple):
        return type(value)(_copied(item) for item in value)
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return value

"""The checks in a notebook: the student's functions run in the same process."""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from tito.checks.counting import counted_copy
from tito.checks.forbidden import refuse_forbidden
from tito.checks.memory import arrays_in, named_arguments, overlaps, shares
from tito.checks.patience import patiently
from tito.checks.rig import NotebookRig, notebook_rig
from tito.checks.runtime import Called, Counts
from tito.counted import CountedArray, backend_of

if TYPE_CHECKING:
    from tito.checks.speed import Speed

MOST_EARLIER_RESULTS = 64

_here = threading.local()
_numbers = itertools.count(1)


class NotebookRuntime:
    """The default runtime: calls directly, keeps earlier results, counts in this process."""

    def __init__(self) -> None:
        # Kept alive on purpose: freed memory is given out again, and then a fresh result would
        # seem to share memory with an earlier one.
        self._earlier: list[np.ndarray] = []

    def call(self, func: Callable, args: tuple, kwargs: dict) -> Called:
        result = func(*args, **kwargs)
        named = named_arguments(func, args, kwargs)
        shared = [
            f"argument {name}"
            for name, value in named
            if name != "out" and _any_pair(shares, result, value)
        ]
        given = [a for _, value in named for _, a in arrays_in(value)]
        earlier = [a for a in self._earlier if not any(shares(a, g) for g in given)]
        if any(_any_pair(overlaps, result, a) for a in earlier):
            shared.append("an earlier result")
        self._earlier += [array for _, array in arrays_in(result)]
        del self._earlier[:-MOST_EARLIER_RESULTS]
        return Called(result, tuple(shared))

    def call_in_time(
        self, func: Callable, args: tuple, kwargs: dict, seconds: float
    ) -> Called | None:
        """In a thread of its own, which is left behind if it does not end."""
        came: list[Called] = []
        raised: list[BaseException] = []
        ended = threading.Event()

        def run() -> None:
            try:
                came.append(self.call(func, args, kwargs))
            except BaseException as error:
                raised.append(error)
            finally:
                ended.set()

        threading.Thread(target=run, daemon=True).start()
        if not patiently(ended.wait, seconds):
            return None
        if raised:
            raise raised[0]
        return came[0]

    def forget(self) -> None:
        self._earlier.clear()

    def remote_array(
        self, array: np.ndarray, name: str | None, budget: int | None = None
    ) -> CountedArray:
        return counted_copy(array, name, budget)

    def counts(self, array: CountedArray) -> Counts:
        backend = backend_of(array)
        return Counts(backend.reads, backend.writes)

    def secret(self) -> bytes:
        return b""

    def worker(self) -> int:
        return _thread_number()

    def cpu_seconds(self) -> float:
        return time.process_time()

    def is_held_up(self) -> bool:
        """Its threads and the one that waits for them get a CPU or none together."""
        return False

    def before_check(self, names: Iterable[str]) -> None:
        refuse_forbidden(names)

    def describe(self, func: Callable) -> str:
        while isinstance(func, functools.partial):
            func = func.func
        return getattr(func, "__name__", type(func).__name__)

    def claim(self, kind: str, func: Callable, args: tuple, kwargs: dict) -> Any:
        """Read here, in the notebook's own process."""
        from tito.checks.claims import unreadable
        from tito.inside import Unreadable, copied, read

        try:
            return read(kind, func, *copied((args, kwargs)))[0]
        except Unreadable as error:
            raise unreadable(self.describe(func), str(error)) from None

    def report_points(self, earned: Any, message: str | None) -> None:
        if message:
            print(message)

    def rig(self, func: Callable, baseline: Callable) -> AbstractContextManager[NotebookRig]:
        return notebook_rig(func, baseline)

    def report_speed(self, found: Speed) -> None:
        """Its message is printed by `points`."""


def _thread_number() -> int:
    """0 for the main thread, a number of its own for each other one.

    The system's thread ids are used again by later threads: two workers could look like one.
    """
    if threading.current_thread() is threading.main_thread():
        return 0
    if not hasattr(_here, "number"):
        _here.number = next(_numbers)
    return _here.number


def _any_pair(test: Callable, result: Any, other: Any) -> bool:
    """Whether any array in one value and any in the other pass a test of two arrays."""
    theirs = [array for _, array in arrays_in(other)]
    return any(test(mine, array) for _, mine in arrays_in(result) for array in theirs)

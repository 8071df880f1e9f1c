"""The judge's process, made safe to run tests in while a hostile process talks to it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import os
import sys
import threading
import time
import types
from collections.abc import Callable

import numpy as np

PR_SET_DUMPABLE = 4
POISON_BYTE = 0x5A


def close_memory() -> None:
    """Linux: no process of the same user may read or write this one's memory (/proc/PID/mem)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def limit_memory(most: int) -> None:
    """An address space that a flood of values cannot grow beyond (where the system knows it)."""
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses what Linux allows
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def collect_seldom() -> None:
    """Look for cycles of garbage a twentieth as often: one hand-in leaves few, and then all go."""
    gc.set_threshold(50_000, 20)


def poison_empty_arrays() -> None:
    """np.empty hands out memory that may hold the expected value of an earlier test.

    A kernel that writes nothing would pass then, and the student's process would read it. Filled
    with NaN, or with large odd numbers, it holds nothing.
    """
    empty, empty_like = np.empty, np.empty_like
    # With their own names, so that np.empty as an argument still crosses to the student by name.
    np.empty = functools.wraps(empty)(lambda *args, **kwargs: poisoned(empty(*args, **kwargs)))
    np.empty_like = functools.wraps(empty_like)(
        lambda *args, **kwargs: poisoned(empty_like(*args, **kwargs))
    )


def poisoned(array: np.ndarray) -> np.ndarray:
    """The array, filled with what no kernel computes."""
    if array.dtype.hasobject or not array.size:
        return array
    if array.dtype.kind in "fc":
        array.fill(np.nan)
    elif array.dtype.kind in "iu":
        array.fill(np.iinfo(array.dtype).max - 88)
    elif array.flags.forc:
        array.reshape(-1, order="A").view(np.uint8)[...] = POISON_BYTE
    return array


def stand_in_for_here() -> None:
    """`import tito.here` sets up a notebook's kernel; the judge has nothing to set up."""
    sys.modules["tito.here"] = types.ModuleType("tito.here")


class Watch:
    """Ends the process when one piece of work burns too much CPU in it.

    A test's own arithmetic can be driven up by what the student returns. Where Python's signals
    exist they cannot interrupt NumPy either, so a thread looks at the clock.
    """

    def __init__(self, give_up: Callable[[], None]) -> None:
        self._give_up = give_up
        self._until: float | None = None
        threading.Thread(target=self._look, daemon=True).start()

    def allow(self, seconds: float | None) -> None:
        """The CPU seconds from now; None while nothing runs."""
        self._until = None if seconds is None else time.process_time() + seconds

    def _look(self) -> None:
        while True:
            time.sleep(0.1)
            until = self._until
            if until is not None and time.process_time() > until:
                self._give_up()
                os._exit(3)

"""Calls that are measured: from outside, with their arrays in shared memory, or by this clock."""

from __future__ import annotations

import math
import mmap
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tito.grading import wire

STEP = 32 << 20
_clock = time.thread_time


class Arena:
    """This end of the memory that is shared with the judge; mapped when it is first used."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._memory: mmap.mmap | None = None

    def array(self, offset: int, dtype: Any, shape: list, strides: list) -> np.ndarray:
        """An array that lies there."""
        dtype = wire.decode_dtype(dtype)
        end = offset + dtype.itemsize * math.prod(shape)
        if self._memory is None or end > len(self._memory):
            # Whole steps, so that few maps are made; addresses count as memory used.
            self._memory = mmap.mmap(self._descriptor, -(-end // STEP) * STEP)
        return np.ndarray(tuple(shape), dtype, self._memory, offset, tuple(strides))


def run_in_arena(func: Callable, calls: list[tuple]) -> list:
    """Call the function for each (args, kwargs, place of the result).

    A result that is what was asked for, an array of that dtype and shape, is written to its place;
    of any other comes back what it is.
    """
    told = []
    for args, kwargs, place in calls:
        result = func(*args, **kwargs)
        if place is None:
            told.append(None)
        elif type(result) is np.ndarray and _fits(result, place):
            place[...] = result
            told.append(None)
        else:
            told.append(_kind(result))
    return told


def run_by_own_clock(func: Callable, calls: list[tuple]) -> list:
    """[seconds of this thread's CPU time, results] of calls with ordinary arguments."""
    start = _clock()
    results = [func(*args, **kwargs) for args, kwargs in calls]
    seconds = _clock() - start
    return [seconds, results]


def _fits(result: np.ndarray, place: np.ndarray) -> bool:
    return result.dtype == place.dtype and result.shape == place.shape


def _kind(result: Any) -> list:
    """[name of its type, dtype, shape]; the latter two of an array of numbers alone."""
    name = type(result).__name__[:80]
    if type(result) is np.ndarray and not result.dtype.hasobject:
        return [name, wire.encode_dtype(result.dtype), list(result.shape)]
    return [name, None, None]

"""A cache on paper: how often an address trace misses.

The cache has `size / (line * ways)` sets. A line of memory may lie in one set only, the one with
its number modulo the number of sets, and there the line that was not used for the longest time
makes room (LRU). Reads and writes are alike: a write to a line that is not there fetches it first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tito.checks.counting import LINE, Trace, trace
from tito.counted import CountedArray

# Compiling takes a second or two, as long as plain Python needs for some millions of accesses.
COMPILED_FROM = 2_000_000


def cache_misses(
    *accesses: CountedArray | Trace | Sequence[int], size: int, line: int = LINE, ways: int = 8
) -> int:
    """Misses of an empty cache on a trace: exact, and the same on every machine.

    accesses : remote arrays, which lie one after the other from address 0 on in the order given;
               or one trace; or the addresses in bytes themselves
    size     : bytes; a multiple of line * ways
    line     : bytes
    ways     : lines in a set

    >>> cache_misses([0, 4, 64, 128, 0], size=128, ways=1)
    4
    """
    for name, number in {"size": size, "line": line, "ways": ways}.items():
        if type(number) is not int or number < 1:
            raise ValueError(f"{name} of a cache is a positive int, not {number!r}")
    sets, rest = divmod(size, line * ways)
    if rest:
        raise ValueError(f"a cache of {size} bytes has no {ways}-way sets of {line}-byte lines")
    lines = _lines_of(accesses, line)
    model = _compiled() if len(lines) >= COMPILED_FROM else None
    return int(model(lines, sets, ways)) if model else misses_in_python(lines, sets, ways)


def misses_in_python(lines: np.ndarray, sets: int, ways: int) -> int:
    """The model, for a trace of line numbers."""
    # A dict remembers the order of insertion: the first key is the line used longest ago.
    held: list[dict[int, None]] = [{} for _ in range(sets)]
    misses = 0
    for line in lines.tolist():
        ours = held[line % sets]
        if line in ours:
            del ours[line]
        else:
            misses += 1
            if len(ours) == ways:
                del ours[next(iter(ours))]
        ours[line] = None
    return misses


def misses_in_arrays(lines: np.ndarray, sets: int, ways: int) -> int:
    """The same in a form that Numba compiles: the lines of a set, the youngest first."""
    held = np.full((sets, ways), -1, np.int64)
    misses = 0
    for i in range(len(lines)):
        ours = held[lines[i] % sets]
        place = 0
        while place < ways - 1 and ours[place] != lines[i]:
            place += 1
        if ours[place] != lines[i]:
            misses += 1
        while place > 0:
            ours[place] = ours[place - 1]
            place -= 1
        ours[0] = lines[i]
    return misses


@lru_cache(maxsize=1)
def _compiled() -> Callable[[np.ndarray, int, int], Any] | None:
    try:
        from numba import njit
    except ImportError:
        return None
    return njit(misses_in_arrays)


def _lines_of(accesses: tuple, line: int) -> np.ndarray:
    """The numbers of the lines that the accesses touch, in order."""
    if accesses and all(isinstance(a, CountedArray) for a in accesses):
        accesses = (trace(*accesses, line=line),)
    if len(accesses) != 1:
        raise TypeError("cache_misses() takes remote arrays, or one trace")
    (found,) = accesses
    if not isinstance(found, Trace):
        addresses = np.asarray(found)
        if addresses.ndim != 1 or (addresses.size and addresses.dtype.kind not in "iu"):
            raise TypeError("a trace is a list of addresses: ints")
        return _checked(addresses.astype(np.int64)) // line
    first = _checked(found.addresses) // line
    last = (found.addresses + found.itemsizes - 1) // line
    touched = np.stack([first, last], axis=1).ravel()
    # An element that straddles two lines touches both, any other one its own once.
    return touched[np.stack([np.ones_like(first, bool), last > first], axis=1).ravel()]


def _checked(addresses: np.ndarray) -> np.ndarray:
    if (addresses < 0).any():
        raise ValueError("a trace has a negative address")
    return addresses

"""Counted arrays: exact reads and writes, the address of each access, and copies by their name.

    a, b, c = remote_array(x, "a"), remote_array(y, "b"), remote_array(zeros, "out")
    expect_close(contents(matmul_tiles(a, b, c)), want, inner=k)
    expect_reads(a, b, least=m * n * k)
    points(*at_most(cache_misses(a, b, c, size=2048), 1_800, 6_000, points=3, unit="misses"))

The elements lie with the test, also in the judge, where the student's process asks for each one: so
the numbers are the test's own and cannot be forged.
"""

from __future__ import annotations

import itertools
import threading
from array import array as packed
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tito.checks.case import calling_names
from tito.checks.failure import CheckFailed, Failure
from tito.checks.runtime import current
from tito.counted import COPIES, CountedArray, backend_of, take_them_in_numba

# Accesses of one array. The good form of an exercise needs far fewer, and an access of the
# student's process costs about 15 us: a wasteful kernel ends here after a few seconds.
BUDGET = 300_000
LINE = 64

# One clock for all arrays: it puts their accesses in order.
_clock = itertools.count()


class TracingBackend:
    """The elements of one counted array, and every access to them in the order they came.

    array  : a copy of the test's array, with the same strides
    budget : accesses after which each further one raises CheckFailed
    """

    def __init__(self, array: np.ndarray, name: str | None, budget: int = BUDGET) -> None:
        self.array = array
        self.name = name or "the array"
        self.writes = 0
        self._budget = budget
        self._flat = array.flat
        self._lock = threading.Lock()
        self._when = packed("q")
        self._what = packed("q")  # twice the position, plus one for a write

    @property
    def reads(self) -> int:
        return len(self._what) - self.writes

    def read(self, position: int) -> Any:
        with self._lock:
            self._note(2 * position)
            return self._flat[position]

    def write(self, position: int, value: Any) -> None:
        with self._lock:
            self._note(2 * position + 1)
            self.writes += 1
            self._flat[position] = value

    def log(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(time, position, whether written) of each access so far."""
        with self._lock:
            when, what = (np.array(part, dtype=np.int64) for part in (self._when, self._what))
        return when, what >> 1, (what & 1).astype(bool)

    def _note(self, what: int) -> None:
        if len(self._what) >= self._budget:
            raise CheckFailed.of(
                Failure(
                    self.name,
                    f"{self.name} was read or written {self._budget:,} times, and the kernel is"
                    " not done: stopped here",
                    "too many reads and writes",
                    tries=["keep an element in a name while you need it"],
                )
            )
        self._when.append(next(_clock))
        self._what.append(what)


@dataclass(frozen=True)
class Trace:
    """Accesses in the order they happened.

    addresses : int64, in bytes
    writes    : bool, False for a read
    itemsizes : int64, bytes of each access
    """

    addresses: np.ndarray
    writes: np.ndarray
    itemsizes: np.ndarray

    def __len__(self) -> int:
        return len(self.addresses)


class Said(str):
    """A message for `points`, and what of it may be shown where the cell is hidden."""

    __slots__ = ("public",)

    def __new__(cls, text: str, public: str) -> Said:
        said = super().__new__(cls, text)
        said.public = public
        return said


def counted_copy(array: np.ndarray, name: str | None, budget: int | None) -> CountedArray:
    """The counted array of a test: data of its own, laid out as the array it was made from."""
    if budget is not None and (type(budget) is not int or budget < 1):
        raise ValueError(f"the budget of a remote array is a number of accesses, not {budget!r}")
    own = _same_layout(np.asarray(array))
    backend = TracingBackend(own, name, budget or BUDGET)
    take_them_in_numba()
    return CountedArray(backend, own.dtype, own.shape, own.strides, writeable=name == "out")


def contents(array: CountedArray) -> np.ndarray:
    """What a `remote_array` holds now, as a plain array; reading it here counts nothing."""
    return np.array(_traced(array).array)


def trace(*arrays: CountedArray, line: int = LINE) -> Trace:
    """Every access to these arrays, one after the other.

    The arrays lie in memory in the order they are given here, from address 0 on, each at the
    beginning of a cache line.
    """
    backends = list(dict.fromkeys(_traced(array) for array in arrays))
    parts, base = [], 0
    for backend in backends:
        when, positions, writes = backend.log()
        addresses = base + _offsets(backend.array, positions)
        sizes = np.full(len(when), backend.array.itemsize)
        parts.append((when, addresses, writes, sizes))
        base += -(-_extent(backend.array)[1] // line) * line
    if not parts:
        raise ValueError("trace() needs at least one remote array")
    when, addresses, writes, sizes = (np.concatenate(column) for column in zip(*parts))
    order = np.argsort(when, kind="stable")
    return Trace(addresses[order], writes[order], sizes[order])


def is_copied(array: CountedArray) -> bool:
    """Whether the array was read as a copy reads it: every element once, first to last."""
    backend = _traced(array)
    _, positions, writes = backend.log()
    read = positions[~writes]
    if len(read) != backend.array.size or not len(read):
        return False
    offsets = _offsets(backend.array, read)
    return bool((np.diff(read) > 0).all() or (np.diff(offsets) > 0).all())


def expect_reads(*arrays: CountedArray, least: int) -> None:
    """Each array was read at least so many times, which says that it was not copied first.

    least : the fewest reads that the algorithm can do with, e.g. m*n*k for a matrix product; with
            fewer, elements came from a copy and the count says nothing
    """
    current().before_check(calling_names())
    if not arrays or type(least) is not int or least < 1:
        raise ValueError("expect_reads(a, b, least=m * n * k) needs arrays and a number of reads")
    for array in arrays:
        backend = _traced(array)
        if backend.reads < least:
            how = ", each element once and in order" if is_copied(array) else ""
            raise CheckFailed.of(
                Failure(
                    backend.name,
                    f"{backend.name}: {backend.reads:,} reads{how}, where the algorithm needs"
                    f" {least:,}: {COPIES}",
                    COPIES,
                    tries=["read x[i, j] inside the loops, and keep no second array of its values"],
                )
            )


def at_most(
    count: int,
    full: int,
    half: int | None = None,
    *,
    points: int | float | Fraction,
    unit: str,
    hint: str | None = None,
) -> tuple[int | float | Fraction, Said | None]:
    """(points, message) for a count: `points(*at_most(misses, 1_800, 6_000, points=3, ...))`.

    full, half : up to this count all the points, up to that one half of them
    unit       : what was counted, for the message: "misses"
    hint       : what to try
    """
    if half is not None and half <= full:
        raise ValueError(f"half must be more than full, not {half} for {full}")
    if count <= full:
        return points, None
    allowed = f"full points up to {full:,}" + (f", half up to {half:,}" if half else "")
    tail = f"\n  try       {hint}" if hint else ""
    message = Said(f"{count:,} {unit}: {allowed}{tail}", f"too many {unit}{tail}")
    if half is not None and count <= half:
        return Fraction(str(points)) / 2, message
    return 0, message


def _traced(array: Any) -> TracingBackend:
    backend = backend_of(array) if isinstance(array, CountedArray) else None
    if not isinstance(backend, TracingBackend):
        raise TypeError(f"this needs a remote_array, not {type(array).__name__}")
    return backend


def _same_layout(array: np.ndarray) -> np.ndarray:
    """A copy with the strides of the original, gaps too: a cache sees where elements lie."""
    low, extent = _extent(array)
    memory = np.zeros(extent, np.uint8)
    copy = np.ndarray(array.shape, array.dtype, memory, -low, array.strides)
    copy[...] = array
    return copy


def _extent(array: np.ndarray) -> tuple[int, int]:
    """(offset of the lowest byte from element 0, bytes from there to the end of the highest)."""
    if not array.size:
        return 0, 0
    reach = [(n - 1) * stride for n, stride in zip(array.shape, array.strides)]
    low = sum(r for r in reach if r < 0)
    return low, sum(r for r in reach if r > 0) - low + array.itemsize


def _offsets(array: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Bytes from an array's lowest one to the elements at these positions."""
    offsets = np.full(len(positions), -_extent(array)[0], np.int64)
    if array.ndim:
        for index, stride in zip(np.unravel_index(positions, array.shape), array.strides):
            offsets += index * stride
    return offsets

"""Probes: small compiled loops whose time says how this machine's memory works.

More sealed boxes: modules before 07 call them and do not open them. Numba compiles each at its
first call; where Numba is missing, `missing()` says so in one sentence, `pointer_chase` returns
None and the others raise ImportError with that sentence, which a scoreboard shows in their row.

    pointer_chase(nbytes)                 seconds of CPU time of one dependent load
    walk_rows(x), walk_columns(x)         the sum of a matrix, along its rows or down its columns
    touch(x, step)                        x[::step] += 1
    transpose_plain(x, out)               the transpose, element by element
    transpose_tiled(x, out, block)        the same, tile by tile
    matmul_ijk, matmul_ikj, matmul_jki    c += a b with its loops in this order

All of them let go of the interpreter lock while they run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from tito.machine import boxes, hardware, timer

NO_NUMBA = "probes need Numba: pip install numba"
HOPS = 20_000
# So many hops at most before the first that counts: more lines than a second-level cache has.
MOST_WARMING = 2**18
REPEATS = 5


def missing() -> str | None:
    """Why no probe can run here; None where they can."""
    return None if boxes.available() else NO_NUMBA


class PointerChase:
    """A ring of nodes in random order, one in each cache line; each holds where the next one is.

    No load can begin before the one before has ended, and no prefetcher can guess it.

    nbytes : bytes of the ring, at least two lines
    """

    def __init__(self, nbytes: int, seed: int = 0) -> None:
        node = _line() // np.dtype(np.int64).itemsize
        nodes = nbytes // _line()
        if nodes < 2:
            raise ValueError(f"a chase needs at least two lines, {2 * _line()} bytes, not {nbytes}")
        self.nodes = nodes
        self._next = boxes.aligned("int64", nodes * _line())
        order = np.random.default_rng(seed).permutation(nodes) * node
        self._next[order] = np.roll(order, -1)
        self._at = 0

    def run(self, hops: int) -> int:
        """So many hops, on from where the last run ended; returns where this one did."""
        self._at = _compiled(_chase)(self._next, self._at, hops)
        return self._at

    def warm(self) -> None:
        """Once around, or as far as a cache could remember."""
        self.run(min(self.nodes, MOST_WARMING))


def pointer_chase(nbytes: int, hops: int = HOPS, repeats: int = REPEATS) -> float | None:
    """Seconds of CPU time of one hop in a ring of so many bytes; None where Numba is missing.

    hops    : in one call, of which a sample holds as many as fill it
    repeats : samples, of which the median counts
    """
    if missing():
        return None
    ring = PointerChase(nbytes)
    ring.warm()
    return timer.time_call(ring.run, hops, repeats=repeats).median / hops


def walk_rows(x: np.ndarray) -> float:
    """The sum of x, read row after row.

    x : (m, n), rows contiguous; they may lie further apart than they are long
    """
    return _walk(_rows, x)


def walk_columns(x: np.ndarray) -> float:
    """The sum of x, read column after column; x as in `walk_rows`."""
    return _walk(_columns, x)


def touch(x: np.ndarray, step: int) -> None:
    """x[::step] += 1, one element after the other. x : (n,)"""
    _compiled(_touch)(x, step)


def transpose_plain(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out[j, i] = x[i, j], row by row of x; x : (m, n), out : (n, m), not overlapping."""
    return transpose_tiled(x, out, max(*x.shape, 1))


def transpose_tiled(x: np.ndarray, out: np.ndarray, block: int) -> np.ndarray:
    """The same in tiles of block x block elements, by the same machine code. Returns out."""
    if out.shape != x.shape[::-1] or block < 1:
        raise ValueError(f"no transpose of {x.shape} into {out.shape} in tiles of {block}")
    _compiled(_transpose)(x, out, block)
    return out


def matmul_ijk(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """c += a b: each element of c at once, b read down its columns.

    a : (m, k), b : (k, n), c : (m, n), all C-contiguous
    """
    _multiply(_ijk, a, b, c)


def matmul_ikj(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """c += a b: rows of b, each times a number, are added to a row of c."""
    _multiply(_ikj, a, b, c)


def matmul_jki(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """c += a b: columns of a, each times a number, are added to a column of c."""
    _multiply(_jki, a, b, c)


MATMUL_ORDERS: Mapping[str, Callable[[np.ndarray, np.ndarray, np.ndarray], None]] = (
    MappingProxyType({"ijk": matmul_ijk, "ikj": matmul_ikj, "jki": matmul_jki})
)


def _multiply(order: Callable, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """Compiled code would read and write beyond arrays that do not fit."""
    if (*a.shape, *b.shape) != (c.shape[0], b.shape[0], a.shape[1], c.shape[1]):
        raise ValueError(f"no product: {a.shape} times {b.shape} into {c.shape}")
    _compiled(order)(a, b, c)


@cache
def _line() -> int:
    """Bytes of this machine's cache line, of the largest where levels differ."""
    return max((level.line or 0 for level in hardware.caches()), default=0) or boxes.LINE


@cache
def _compiled(loops: Callable) -> Callable[..., Any]:
    if sentence := missing():
        raise ImportError(sentence)
    from numba import njit

    return njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})(loops)


def _walk(loops: Callable, x: np.ndarray) -> float:
    """Run the loops over the memory from x's first element to its last, gaps included."""
    height, width = x.shape
    if not x.size:
        return 0.0
    step = x.strides[0] // x.itemsize if height > 1 else width
    if step < 1 or (width > 1 and x.strides[1] != x.itemsize):
        raise ValueError(
            "a walk needs a matrix whose rows are contiguous and lie one after another"
        )
    length = (height - 1) * step + width
    memory = np.lib.stride_tricks.as_strided(x, (length,), (x.itemsize,), writeable=False)
    return _compiled(loops)(memory, height, width, step)


# What Numba compiles. Loops run over slices and from 0 on: an index that might be negative would
# be checked in each turn, and a sum over a slice without a step becomes vectors.


def _chase(ring, at, hops):
    for _ in range(hops):
        at = ring[at]
    return at


def _rows(memory, height, width, step):
    total = 0.0
    for row in range(height):
        numbers = memory[row * step : row * step + width]
        for turn in range(width):
            total += numbers[turn]
    return total


def _columns(memory, height, width, step):
    total = 0.0
    for column in range(width):
        numbers = memory[column : column + (height - 1) * step + 1 : step]
        for turn in range(height):
            total += numbers[turn]
    return total


def _touch(numbers, step):
    touched = numbers[::step]
    for turn in range(len(touched)):
        touched[turn] += 1


def _transpose(source, target, size):
    height, width = source.shape
    for top in range(0, height, size):
        for left in range(0, width, size):
            tile = source[top : top + size, left : left + size]
            place = target[left : left + size, top : top + size]
            for down in range(tile.shape[0]):
                for along in range(tile.shape[1]):
                    place[along, down] = tile[down, along]


def _ijk(left, right, result):
    for row in range(result.shape[0]):
        for column in range(result.shape[1]):
            total = result[row, column]
            for inner in range(right.shape[0]):
                total += left[row, inner] * right[inner, column]
            result[row, column] = total


def _ikj(left, right, result):
    for row in range(result.shape[0]):
        for inner in range(right.shape[0]):
            factor = left[row, inner]
            for column in range(result.shape[1]):
                result[row, column] += factor * right[inner, column]


def _jki(left, right, result):
    for column in range(result.shape[1]):
        for inner in range(right.shape[0]):
            factor = right[inner, column]
            for row in range(result.shape[0]):
                result[row, column] += left[row, inner] * factor

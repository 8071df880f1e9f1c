"""The lessons of module 05: what tiles buy by the clock, and in exact misses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tito.bench.lessons.lesson import Band, Lesson
from tito.bench.lessons.timed import Calls, counted, timed
from tito.bench.lessons.traces import ITEMSIZE, LINE, matmul_trace, transpose_trace
from tito.checks import cache_misses
from tito.machine import hardware, probes

SIDES = (512, 1024, 2048, 4096)
TILE = 8  # rows a power of two apart, of which a first-level cache keeps about so many
SHARE_OF_FREE = 4

# The model that the module counts with, and a size at which none of three matrices fits.
MODEL = {"size": 2048, "line": LINE, "ways": 8}
PER_LINE = LINE // ITEMSIZE
N, BLOCK = 48, 16


def lessons() -> list[Lesson]:
    """For this machine's memory; the counted ones are the same everywhere."""
    free = hardware.free_memory()
    return [
        *(transpose(side, free) for side in SIDES),
        transpose_counted(),
        order_counted("ijk", "ikj"),
        order_counted("jki", "ikj"),
        blocks_counted(),
    ]


def transpose(side: int, free: int | None) -> Lesson:
    """Element by element against tile by tile."""
    needed = 2 * side * side * ITEMSIZE
    return timed(
        f"transpose, {side}",
        f"{side} x {side} float32: row by row / in tiles of {TILE} x {TILE}",
        Band(
            1.5,
            why="the module teaches that tiles pay at each of these sizes by more than a reader"
            " could take for noise: half as fast again",
        ),
        lambda: _two_transposes(side),
        "its matrices do not fit in the free memory"
        if free is not None and needed * SHARE_OF_FREE > free
        else None,
    )


def transpose_counted() -> Lesson:
    """A line of out comes once for each number in it, or once."""
    return counted(
        "transpose, counted",
        f"misses of a model cache, {N} x {N}: row by row / in tiles of {BLOCK}",
        _exactly(
            (1 + PER_LINE) / (1 + 1),
            f"row by row x costs a miss for each line, out one for each of the {PER_LINE} numbers"
            " of a line; in tiles both cost one a line",
        ),
        lambda: _misses(transpose_trace(N)) / _misses(transpose_trace(N, BLOCK)),
    )


# Misses of c += a b for n x n matrices of which a column's lines do not fit, worked out by hand.
BY_HAND: dict[str, tuple[Callable[[int], float], str]] = {
    "ijk": (
        lambda n: n**3 + n**3 / PER_LINE + n**2,
        "each number of b, the row of a again for each number of c, and that one",
    ),
    "ikj": (
        lambda n: n**3 / PER_LINE + 2 * n**2 / PER_LINE,
        "a line for each {line} numbers of b's rows, and each line of a and c once",
    ),
    "jki": (
        lambda n: 2 * n**3 + n**2,
        "each number of the columns of a and of c, and each number of b",
    ),
}


def order_counted(worse: str, better: str) -> Lesson:
    """The order of three loops."""
    ratio = BY_HAND[worse][0](N) / BY_HAND[better][0](N)
    said = [f"{order}: {BY_HAND[order][1].format(line=PER_LINE)}" for order in (worse, better)]
    return counted(
        f"loop order {worse}, counted",
        f"misses of a model cache, {N} x {N} matmul: {worse} / {better}",
        _exactly(ratio, "by hand, what misses. " + "; ".join(said)),
        lambda: _misses(matmul_trace(worse, N)) / _misses(matmul_trace(better, N)),
    )


def blocks_counted() -> Lesson:
    """Tiles against plain loops."""
    tiles = 3 * (N // BLOCK) ** 3
    by_hand = tiles * BLOCK * BLOCK / PER_LINE
    return counted(
        "tiles, counted",
        f"misses of a model cache, {N} x {N} matmul: ijk / ijk in tiles of {BLOCK}",
        _exactly(
            BY_HAND["ijk"][0](N) / by_hand,
            f"by hand: in tiles {tiles} tiles come once each, {BLOCK * BLOCK // PER_LINE} lines",
        ),
        lambda: _misses(matmul_trace("ijk", N)) / _misses(matmul_trace("ijk", N, BLOCK)),
    )


def _exactly(value: float, why: str) -> Band:
    return Band(value, value, why)


def _misses(trace: np.ndarray) -> int:
    return cache_misses(trace, **MODEL)


def _two_transposes(side: int) -> Calls:
    x = np.ones((side, side), np.float32)
    out = np.ones_like(x)
    return lambda: probes.transpose_plain(x, out), lambda: probes.transpose_tiled(x, out, TILE)

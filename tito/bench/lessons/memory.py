"""The lessons of module 04: order, strides, cache lines, latency."""

from __future__ import annotations

import numpy as np

from tito.bench.lessons.lesson import Band, Lesson, nearest
from tito.bench.lessons.timed import Calls, counted, timed
from tito.bench.lessons.traces import ITEMSIZE, column_trace
from tito.checks import cache_misses
from tito.machine import hardware, probes, roofs
from tito.machine.caches import Cache, size_text

SIDE = 2048
# Of the walks with and without padding. So many lines also stay in a second-level cache whose
# owner has to give way at times, and their pages in a TLB; of 2048 rows neither is sure.
ROWS = 512
HOPS = 20_000
NO_CACHES = "the sizes of this machine's caches cannot be read"
DRAM_CYCLES, L1_CYCLES = 100, 5
MODEL = {"size": 4096, "line": 64, "ways": 8}


def lessons() -> list[Lesson]:
    """For the caches and the memory of this machine."""
    caches, free = hardware.caches(), hardware.free_memory()
    sizes = roofs.working_sets(caches, free)
    return [
        column_walk(caches),
        padding(caches),
        padding_counted(),
        lines_not_numbers(sizes),
        *latencies(caches, sizes),
    ]


def column_walk(caches: tuple[Cache, ...]) -> Lesson:
    """Down the columns against along the rows."""
    line = line_of(caches)
    return timed(
        "order",
        f"sum of {SIDE} x {SIDE}: down the columns / along the rows",
        Band(
            line // ITEMSIZE,
            why=f"a line of {line} bytes brings {line // ITEMSIZE} numbers. Rows a power of two"
            " apart share a few places of a cache: unless it holds the whole matrix, a line is"
            " gone before its next number is asked for, and comes once for each of them",
        ),
        lambda: _two_walks(_ones(SIDE, SIDE)),
    )


def padding(caches: tuple[Cache, ...]) -> Lesson:
    """A stride that is a power of two against one that is a line longer."""
    line = line_of(caches)
    column, matrix = ROWS * line, ROWS * SIDE * ITEMSIZE
    holding = [cache for cache in caches if 2 * column <= cache.size < matrix]
    left_out = None
    if not caches:
        left_out = NO_CACHES
    elif not holding:
        left_out = f"no cache here holds {size_text(2 * column)} but not {size_text(matrix)}"
    return timed(
        "power of two",
        f"down {ROWS} rows, column by column: rows {SIDE} / {SIDE + line // ITEMSIZE} apart",
        Band(
            2,
            why=f"with one line between rows the {ROWS} lines of a column spread over all of"
            f" {holding[0].name if holding else 'a cache'}, which holds them; without it they share"
            " a few places and come from the next level, and a level is built only if it is at"
            " least twice as quick as the next one",
        ),
        lambda: _two_paddings(line // ITEMSIZE),
        left_out,
    )


def padding_counted() -> Lesson:
    """The same on paper."""
    side, per_line = 64, MODEL["line"] // ITEMSIZE

    def count() -> float:
        plain = cache_misses(column_trace(side, side, side), **MODEL)
        padded = cache_misses(column_trace(side, side, side + per_line), **MODEL)
        return plain / padded

    return counted(
        "power of two, counted",
        f"misses of a model cache, {side} x {side}: not padded / padded",
        Band(
            per_line,
            per_line,
            why=f"{MODEL['size']} bytes hold the {side} lines of a column only if they spread over"
            f" all sets: then one miss a line, else one for each of its {per_line} numbers",
        ),
        count,
    )


def lines_not_numbers(sizes: dict[str, int]) -> Lesson:
    """x[::4] against x[::16], which touch the same lines."""
    nbytes = sizes.get("memory")
    where = size_text(nbytes) if nbytes else "memory"
    return timed(
        "lines, not numbers",
        f"x[::step] += 1 in {where}: step 4 / step 16",
        nearest(
            1,
            below=1 / 4,
            above=4,
            why="both touch every line, and step 4 four times as many numbers: the ratio is nearer"
            " to 1 than to 4, and for symmetry nearer to 1 than to 1/4",
        ),
        lambda: _two_steps(nbytes or 0),
        None if nbytes else "an array far larger than the caches does not fit in the free memory",
    )


def latencies(caches: tuple[Cache, ...], sizes: dict[str, int]) -> list[Lesson]:
    """A hop in each level against one in the first."""
    # Half of a level, for other things lie in it too.
    rings = {cache.name: cache.size // 2 for cache in caches}
    if rings and "memory" in sizes:
        rings["memory"] = sizes["memory"]
    if len(rings) < 2:
        band = Band(2, why="a level that is not twice as quick as the next would not be built")
        return [Lesson("latency", "a hop in each level / in L1", band, left_out=NO_CACHES)]
    (first, nearest_bytes), *rest = rings.items()
    return [
        timed(
            f"latency of {level}",
            f"a hop of a pointer chase: {size_text(nbytes)} / {size_text(nearest_bytes)} ({first})",
            _from_memory() if level == "memory" else _from_cache(level, depth, first),
            lambda nbytes=nbytes: _two_chases(nbytes, nearest_bytes),
        )
        for depth, (level, nbytes) in enumerate(rest, start=1)
    ]


def _from_cache(level: str, depth: int, first: str) -> Band:
    return Band(
        2**depth,
        why="a level is built only if it is at least twice as quick as the next one:"
        f" {level} is {depth} below {first}",
    )


def _from_memory() -> Band:
    return Band(
        DRAM_CYCLES / L1_CYCLES,
        why="opening a row of DRAM and reading from it take near 30 ns by themselves, some"
        f" {DRAM_CYCLES} cycles; a hop in the first cache takes 4 or {L1_CYCLES}",
    )


def line_of(caches: tuple[Cache, ...]) -> int:
    """Bytes of a line; 64 where it cannot be read."""
    return max((cache.line or 0 for cache in caches), default=0) or MODEL["line"]


def _ones(height: int, step: int, width: int | None = None) -> np.ndarray:
    return np.ones((height, step), np.float32)[:, : width or step]


def _two_walks(x: np.ndarray) -> Calls:
    return lambda: probes.walk_columns(x), lambda: probes.walk_rows(x)


def _two_paddings(extra: int) -> Calls:
    plain, padded = _ones(ROWS, SIDE), _ones(ROWS, SIDE + extra, SIDE)
    return lambda: probes.walk_columns(plain), lambda: probes.walk_columns(padded)


def _two_steps(nbytes: int) -> Calls:
    x = np.ones(nbytes // ITEMSIZE, np.float32)
    return lambda: probes.touch(x, 4), lambda: probes.touch(x, 16)


def _two_chases(far: int, near: int) -> Calls:
    rings = probes.PointerChase(far), probes.PointerChase(near)
    for ring in rings:
        ring.warm()
    return lambda: rings[0].run(HOPS), lambda: rings[1].run(HOPS)

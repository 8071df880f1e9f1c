"""What one core of this machine can do at most: measured by sealed boxes, once a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

import numpy as np

from tito.machine import boxes, hardware, timer
from tito.machine.blas import one_thread
from tito.machine.caches import Cache, size_text

REPEATS = 15
TURNS = 20_000  # of a multiply-add box in one call: some 30 to 100 us
PASS = 2**20  # bytes that a box of loads passes over in one call, at least
# Main memory is read in an array so many times the last cache: little of it is still there. Of
# less than twice the cache too much would be, and then memory is not measured.
TIMES_LAST_CACHE, LEAST_TIMES = 4, 2
TIMES_LEVEL_BEFORE = 4
SMALLEST_MEMORY, LARGEST_MEMORY = 2**26, 2**29
SHARE_OF_FREE = 8
NO_NUMBA = "peaks are unknown: they are measured by code that Numba compiles, and it does not here"
OTHER_CPU = (
    "peaks are unknown: Numba compiles for a CPU without multiply-adds, and this one has them"
    " (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES)"
)
NO_CPU = "peaks are unknown: no vector instructions are known for this kind of CPU"


@dataclass(frozen=True)
class Peaks:
    """Roofs of one thread, by CPU time: the best of several windows. None where unknown.

    by_width  : bits of the vectors -> FLOP/s in float32
    widest64  : FLOP/s in float64 at the greatest width
    bandwidth : "L1", "L2", "L3", "memory" -> bytes/s read
    copying   : the same, bytes/s read and written by a copy
    holds     : the same -> bytes that fit there; "memory" has no entry
    spread    : the greatest (90th - 10th percentile) / median of all that was measured
    missing   : a sentence if nothing could be measured
    """

    by_width: Mapping[int, float] = field(default_factory=dict)
    widest64: float | None = None
    bandwidth: Mapping[str, float] = field(default_factory=dict)
    copying: Mapping[str, float] = field(default_factory=dict)
    holds: Mapping[str, int] = field(default_factory=dict)
    spread: float | None = None
    missing: str | None = None

    def flops(self, dtype: object = "float32") -> float | None:
        """FLOP/s of the fastest width; None for a type that was not measured."""
        name = np.dtype(dtype).name
        if name == "float64":
            return self.widest64
        return max(self.by_width.values(), default=None) if name == "float32" else None

    def level_for(self, nbytes: float) -> str | None:
        """The smallest level that holds so many bytes; None if that one was not measured."""
        level = next((name for name, size in self.holds.items() if nbytes <= size), "memory")
        return level if level in self.bandwidth else None

    def bandwidth_for(self, nbytes: float) -> float | None:
        """Bytes/s of the smallest level that holds a working set of so many bytes.

        The better one of reading and copying: a roof for whatever mixture a kernel has.
        """
        level = self.level_for(nbytes)
        return max(self.bandwidth[level], self.copying[level]) if level else None

    def __str__(self) -> str:
        if self.missing:
            return self.missing
        lines = [
            f"{w} bit float32   {rate / 1e9:8.1f} GFLOP/s" for w, rate in self.by_width.items()
        ]
        if self.widest64:
            lines.append(f"{max(self.by_width)} bit float64   {self.widest64 / 1e9:8.1f} GFLOP/s")
        for level, rate in self.bandwidth.items():
            size = f" ({size_text(self.holds[level])})" if level in self.holds else ""
            pair = f"read {rate / 1e9:6.1f}  copy {self.copying[level] / 1e9:6.1f} GB/s"
            lines.append(f"{level + size:<16}{pair}")
        return "\n".join([*lines, f"one thread, CPU time; spread up to {self.spread:.0%}"])


@cache
def peaks() -> Peaks:
    """The peaks of one thread, measured at the first call, which takes about two seconds."""
    if not boxes.available():
        return Peaks(missing=NO_NUMBA)
    features = hardware.features()
    widths = boxes.widths(features)
    if not widths:
        return Peaks(missing=NO_CPU)
    fused = "fma" in features or "asimd" in features
    try:
        if fused and not boxes.fuses(boxes.multiply_add("float32", max(widths))):
            return Peaks(missing=OTHER_CPU)
        with one_thread():
            return _measured(widths, fused)
    except Exception as error:  # of a compiler that is none of ours: a table still has its times
        return Peaks(missing=f"peaks are unknown: a probe failed ({type(error).__name__}: {error})")


def working_sets(caches: tuple[Cache, ...], free: int | None) -> dict[str, int]:
    """Level -> bytes of the arrays that are read to measure it.

    A few times the level before, where a roof for all that this level holds has to be measured:
    the fuller a shared cache, the slower. At most half of a cache, for other things lie in it too.
    A level that is hardly larger than the one before has no size of its own to be measured at.

    >>> working_sets((Cache(1, "data", 2**15), Cache(2, "unified", 2**20)), None)
    {'L1': 16384, 'L2': 131072, 'memory': 67108864}
    """
    sizes, before = {}, 0
    for level in caches:
        if level.size >= 3 * before:
            sizes[level.name] = min(level.size // 2, TIMES_LEVEL_BEFORE * (before or level.size))
            before = level.size
    wanted = max(SMALLEST_MEMORY, TIMES_LAST_CACHE * before)
    possible = min(wanted, LARGEST_MEMORY, *([free // SHARE_OF_FREE] if free else []))
    if possible >= LEAST_TIMES * before:
        sizes["memory"] = possible
    return sizes


def _measured(widths: tuple[int, ...], fused: bool) -> Peaks:
    spreads: list[float] = []
    by_width = {width: _flops("float32", width, fused, spreads) for width in widths}
    widest64 = _flops("float64", max(widths), fused, spreads)
    caches = hardware.caches()
    reading, copying = {}, {}
    for level, nbytes in working_sets(caches, hardware.free_memory()).items():
        reading[level] = _reading(nbytes, max(widths), spreads)
        copying[level] = _copying(nbytes, max(widths), spreads)
    return Peaks(
        by_width=MappingProxyType(by_width),
        widest64=widest64,
        bandwidth=MappingProxyType(reading),
        copying=MappingProxyType(copying),
        holds=MappingProxyType({c.name: c.size for c in caches if c.name in reading}),
        spread=max(spreads),
    )


def _flops(dtype: str, width: int, fused: bool, spreads: list[float]) -> float:
    box = boxes.multiply_add(dtype, width, fused)
    lanes = width // (8 * np.dtype(dtype).itemsize)
    return 2 * lanes * boxes.CHAINS * TURNS / _best(box, (TURNS,), spreads)


def _reading(nbytes: int, width: int, spreads: list[float]) -> float:
    box, turns = boxes.read(width), max(1, PASS // nbytes)
    array = _whole_blocks(nbytes, width)
    return array.nbytes * turns / _best(box, (array, turns), spreads)


def _copying(nbytes: int, width: int, spreads: list[float]) -> float:
    """Source and target together are the working set; each byte counts as read and as written."""
    box, turns = boxes.copy(width), max(1, PASS // nbytes)
    source, target = (_whole_blocks(nbytes // 2, width) for _ in range(2))
    return 2 * source.nbytes * turns / _best(box, (source, target, turns), spreads)


def _whole_blocks(nbytes: int, width: int) -> np.ndarray:
    block = boxes.UNROLL * width // 8
    return boxes.aligned("int32", max(1, nbytes // block) * block)


def _best(box: Callable, args: tuple, spreads: list[float]) -> float:
    timing = timer.time_call(box, *args, repeats=REPEATS)
    spreads.append(timing.spread)
    return timing.best

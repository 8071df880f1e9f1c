"""One level of cache, as every system's reader reports it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cache:
    """A cache that data pass through; caches of instructions are left out.

    level     : 1 is next to the core
    kind      : "data" or "unified" (data and instructions)
    size      : bytes
    line      : bytes of a line, None if unknown
    shared_by : how many of the system's CPUs share it, None if unknown
    """

    level: int
    kind: str
    size: int
    line: int | None = None
    shared_by: int | None = None

    @property
    def name(self) -> str:
        """ "L1", "L2", ..."""
        return f"L{self.level}"

    def __str__(self) -> str:
        text = f"{self.name} {size_text(self.size)}"
        return text + (f" (shared by {self.shared_by})" if (self.shared_by or 1) > 1 else "")


def in_order(found: Iterable[Cache]) -> tuple[Cache, ...]:
    """One cache a level, from the core outwards; of several the first that was found counts."""
    levels: dict[int, Cache] = {}
    for cache in found:
        levels.setdefault(cache.level, cache)
    return tuple(levels[level] for level in sorted(levels))


def size_text(size: float) -> str:
    """Bytes in the unit that fits.

    >>> size_text(32 * 1024), size_text(1.5 * 2**20), size_text(24 * 2**30)
    ('32 KiB', '1.5 MiB', '24 GiB')
    """
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"

"""Resource limits, where the system has them (not on Windows)."""

from __future__ import annotations

import sys
from typing import Any

DEFAULTS = {"memory_bytes": 4 << 30, "cpu_seconds": 300, "file_bytes": 30 << 20}
OPEN_FILES = 256
THREADS = 8192  # the kernel counts all threads of a user, so it must leave room for a desktop's
MALLOC_ARENAS = 8
M_ARENA_MAX = -8


def limit(limits: object) -> str | None:
    """Limit this process as `limits` says; "rlimits", or None if the system has none.

    A limit is only ever lowered, and one that the system refuses is left out.
    """
    try:
        import resource
    except ImportError:
        return None
    for name, value in wanted(limits).items():
        lower(resource, name, value)
    _few_arenas()
    return "rlimits"


def wanted(limits: object) -> dict[str, int]:
    """The limits by the names of the resource module."""
    memory, cpu, file = (int(getattr(limits, name, default)) for name, default in DEFAULTS.items())
    return {
        "RLIMIT_AS": memory,
        "RLIMIT_CPU": max(cpu, 1),
        "RLIMIT_FSIZE": file,
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_NPROC": THREADS,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_NICE": 0,
        "RLIMIT_RTPRIO": 0,
    }


def lower(resource: Any, name: str, value: int) -> None:
    """Lower one limit of the resource module, hard and soft, if it is there and above `value`."""
    number = getattr(resource, name, None)
    if number is None:
        return
    soft, hard = resource.getrlimit(number)
    unlimited = resource.RLIM_INFINITY
    new_hard = value if hard == unlimited else min(hard, value)
    new_soft = new_hard if soft == unlimited else min(soft, new_hard)
    try:
        resource.setrlimit(number, (new_soft, new_hard))
    except (OSError, ValueError):
        return


def _few_arenas() -> None:
    """glibc reserves 64 MB of addresses a thread: on many cores that alone would be too much."""
    if sys.platform != "linux":
        return
    from .libc import libc

    mallopt = getattr(libc(), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, MALLOC_ARENAS)

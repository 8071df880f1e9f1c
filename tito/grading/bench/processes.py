"""CPU time and memory of this process and all that it has started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tito.errors import UserError


def require_linux() -> None:
    """What ended processes have used is counted nowhere else."""
    if sys.platform != "linux":
        raise UserError(
            "the bench needs Linux", hint="tito grade run --timing works on other systems too"
        )


def cpu_seconds() -> float:
    """Of this process and all below it, those that have ended and were waited for included."""
    return tree_seconds(os.getpid())


def tree_seconds(pid: int) -> float:
    """The same of another process; 0 where it is gone."""
    import psutil

    total = 0.0
    with suppress(psutil.Error):
        for process in _family(pid):
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total


def memory() -> int:
    """Bytes that all of them hold together; what several share is counted once."""
    import psutil

    total = 0
    for process in _family(os.getpid()):
        with suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total


def peak_here() -> int:
    """The most bytes that this process alone has held."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


def _family(pid: int) -> Iterator:
    import psutil

    process = psutil.Process(pid)
    yield process
    yield from process.children(recursive=True)

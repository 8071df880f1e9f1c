"""The layers in their order, and what they amount to."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from .rlimits import limit, wanted
from .view import WRITABLE_DEVICES, listed_folders


def confine(
    scratch: Path, readable: Sequence[Path], limits: object, *, without: Container[str] = ()
) -> list[str]:
    """Confine this process for good; the names of the layers that took hold, [] if none did.

    scratch  : the one folder that can be written; becomes the working folder
    readable : files and folders that can be read: readable_paths() and what the caller staged
    limits   : any object; its attributes memory_bytes, cpu_seconds and file_bytes are taken
    without  : layers to leave out: "namespaces" (and with them the tmpfs), "tmpfs", "landlock",
               "capabilities", "rlimits", "seccomp"

    Call it before any student code and before imports that start threads (a BLAS with more than
    one): a thread that already runs would stay free, so that is a RuntimeError. On Linux the
    process dies with the thread that started it.
    """
    scratch = Path(scratch).resolve()
    if sys.platform != "linux":
        os.chdir(scratch)
        return _names([None if "rlimits" in without else limit(limits)])
    return _names(_linux(scratch, readable, limits, without))


def _linux(
    scratch: Path, readable: Sequence[Path], limits: object, without: Container[str]
) -> Iterable[str | None]:
    """Apply the layers one by one; seccomp last, since it closes what the others need."""
    from . import landlock, locks, mounts, namespaces, privileges, seccomp

    _refuse_threads()
    entered = [] if "namespaces" in without else namespaces.enter()
    yield from entered
    if "mount namespace" in entered and "tmpfs" not in without:
        yield mounts.private_scratch(scratch, 2 * wanted(limits)["RLIMIT_FSIZE"])
    os.chdir(scratch)
    privileges.close_to_others()
    if "landlock" not in without:
        writable = [scratch, *map(Path, WRITABLE_DEVICES)]
        yield landlock.restrict(readable, listed_folders(readable), writable)
    if "seccomp" not in without:
        locks.use_thread_locks()
    if "capabilities" not in without:
        yield privileges.drop_capabilities()
    if "rlimits" not in without:
        yield limit(limits)
    if "seccomp" not in without:
        yield seccomp.install()


def _names(layers: Iterable[str | None]) -> list[str]:
    return [name for name in layers if name is not None]


def _refuse_threads() -> None:
    """A layer binds the thread that asks for it and those it starts, not those that run already."""
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise RuntimeError(
            f"confine() comes too late: {threads - 1} other threads run already and would stay free"
        )


def is_isolating(layers: Iterable[str]) -> bool:
    """Whether these layers keep student code from the user's files; limits alone do not."""
    return any(name.startswith(("landlock", "mounts")) for name in layers)

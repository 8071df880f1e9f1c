"""Own views of the system: of its mounts, network, shared memory, host name and processes.

Each is taken where the kernel gives it, one by one. As root just so; a plain user needs a
namespace of users first, in which it stays itself and has root's powers over what is its own.

The one of processes is for the children of whoever asks (`own_processes`): it needs a first process
that lives as long as they do, and student code must not be that one, for the kernel lets a first
process ignore signals. So a keeper is started, which does nothing.
"""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .libc import libc, syscall_error

CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
# In this order; the number is that of the flag.
KINDS = {"mount": 0x00020000, "net": 0x40000000, "ipc": 0x08000000, "uts": 0x04000000}
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x8, 0x4000, 0x40000
CAP_SYS_ADMIN = 21
CAPABILITY_VERSION = 0x20080522
HOST = b"student"


def enter() -> list[str]:
    """Take the views that this system gives; their names, [] if none.

    In a process namespace of `own_processes`, /proc shows that one from then on.
    """
    kinds = possible()
    entered = []
    if kinds and _needs_user():
        _enter_user()
        entered.append("user namespace")
    for kind in kinds:
        with suppress(OSError):
            _enter(kind)
            entered.append(f"{kind} namespace")
    if _is_apart() and "mount namespace" in entered:
        with suppress(OSError):
            _mount_proc()
            entered.append("pid namespace")
    return entered


@dataclass(frozen=True)
class Keeper:
    """The first process of a namespace; it ends when nobody holds the descriptor any more.

    All others of the namespace end with it.
    """

    pid: int
    descriptor: int

    def leave(self) -> None:
        """For children: they are kept, they keep nobody."""
        os.close(self.descriptor)

    def end(self) -> None:
        """For who started it, once the children are gone."""
        os.close(self.descriptor)
        os.waitpid(self.pid, 0)


def own_processes() -> Keeper | None:
    """Let the children of this process live among themselves from now on; None if not allowed.

    They see and name no other process; outside they have numbers as ever. This process may start no
    thread afterwards. If it is killed, their keeper ends, and they with it.
    """
    if not _may_be_apart():
        return None
    if _needs_user():
        _enter_user()
    call("unshare", CLONE_NEWPID)
    return _start_keeper()


@cache
def possible() -> tuple[str, ...]:
    """The kinds that this process may have, tried in a child: some cannot be given back."""
    got = _in_child(_try_all)
    return tuple(kind for bit, kind in enumerate(KINDS) if got >> bit & 1)


def _try_all() -> int:
    """A bit for each kind that can be had."""
    if _needs_user():
        _enter_user()
    got = 0
    for bit, kind in enumerate(KINDS):
        with suppress(OSError):
            _enter(kind)
            got |= 1 << bit
    return got


@cache
def _may_be_apart() -> bool:
    """Whether children may have processes of their own, with a /proc that shows them."""
    return "mount" in possible() and bool(_in_child(_try_apart))


def _try_apart() -> int:
    if _needs_user():
        _enter_user()
    call("unshare", CLONE_NEWPID)
    return _in_child(_try_proc)


def _try_proc() -> int:
    _enter("mount")
    _mount_proc()
    return 1


def _in_child(work: Callable[[], int]) -> int:
    """What it comes to in a child, a small number; 0 if it fails."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            code = work()
        finally:
            os._exit(code)
    return max(0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _is_apart() -> bool:
    """Whether the parent lives in another process namespace: it has no number here."""
    return os.getppid() == 0 and os.getpid() != 1


def _needs_user() -> bool:
    """Root takes no user namespace: there it could not read a Python that another user owns.

    Nor does who has been given root's powers in one already.
    """
    return os.geteuid() != 0 and not _may_administer()


def _may_administer() -> bool:
    import ctypes

    header = ctypes.create_string_buffer(struct.pack("=Ii", CAPABILITY_VERSION, 0))
    sets = ctypes.create_string_buffer(24)
    if libc().capget(header, sets) != 0:
        return False
    return bool(struct.unpack("=6I", sets.raw)[0] >> CAP_SYS_ADMIN & 1)


def _enter_user() -> None:
    user, group = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _enter(kind: str) -> None:
    call("unshare", KINDS[kind])
    if kind == "mount":
        call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    elif kind == "uts":
        call("sethostname", HOST, len(HOST))


def _mount_proc() -> None:
    call("mount", b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)


def _start_keeper() -> Keeper:
    reading, kept = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(reading)
        return Keeper(pid, kept)
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who loses its parent here leaves no zombie
        os.setsid()
        for name in os.listdir("/proc/self/fd"):
            if int(name) != reading:
                with suppress(OSError):
                    os.close(int(name))
        os.read(reading, 1)
    finally:
        os._exit(0)


def call(name: str, *arguments: int | bytes | None) -> None:
    """A function of the C library; numbers are unsigned longs."""
    import ctypes

    values = (ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments)
    if getattr(libc(), name)(*values) != 0:
        raise syscall_error()

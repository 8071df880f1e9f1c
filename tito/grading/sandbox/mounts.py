"""A scratch folder in memory, of a size that ends, where the system lets us mount one.

Resource limits bound each file but not their number. A tmpfs that only this process sees bounds
the sum, and is gone when the process is.
"""

from __future__ import annotations

import os
from pathlib import Path

from .libc import libc, syscall_error

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x4000, 0x40000
FILES = 8192


def private_scratch(scratch: Path, size: int) -> str | None:
    """Mount an own tmpfs over scratch, with what lay in it; "tmpfs", or None if not allowed.

    size : bytes that all files together may have besides those
    """
    size += sum(path.lstat().st_size for path in scratch.rglob("*"))
    if not _allowed(scratch, size):
        return None
    try:
        _mount(scratch, size)
    except OSError:
        return None
    return "tmpfs"


def _allowed(scratch: Path, size: int) -> bool:
    """Try it in a child first: half a namespace (a user without name) would be worse than none."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _mount(scratch, size)
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _mount(scratch: Path, size: int) -> None:
    """Leave the common view of the file system and put a tmpfs over scratch."""
    _new_namespace()
    before = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        options = f"size={size},nr_inodes={FILES},mode=700".encode()
        _call("mount", b"tmpfs", os.fsencode(scratch), b"tmpfs", MS_NOSUID | MS_NODEV, options)
        _copy(Path(f"/proc/self/fd/{before}"), scratch)  # the descriptor still shows the old folder
    finally:
        os.close(before)


def _new_namespace() -> None:
    """As root just of mounts; a plain user needs one of users too, in which it stays itself.

    Root takes no user namespace: there it could not read a Python that another user owns.
    """
    if os.geteuid() == 0:
        _call("unshare", CLONE_NEWNS)
        return
    user, group = os.geteuid(), os.getegid()
    _call("unshare", CLONE_NEWUSER | CLONE_NEWNS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _copy(before: Path, after: Path) -> None:
    """Copy what the folder held: files, folders, links as links."""
    for entry in os.scandir(before):
        target = after / entry.name
        if entry.is_symlink():
            target.symlink_to(os.readlink(entry.path))
        elif entry.is_dir():
            target.mkdir()
            _copy(Path(entry.path), target)
        elif entry.is_file():
            target.write_bytes(Path(entry.path).read_bytes())


def _call(name: str, *arguments: int | bytes | None) -> None:
    """A function of the C library; numbers are unsigned longs."""
    import ctypes

    values = (ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments)
    if getattr(libc(), name)(*values) != 0:
        raise syscall_error()

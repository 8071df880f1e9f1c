"""A scratch folder in memory, of a size that ends, where the system lets us mount one.

Resource limits bound each file but not their number. A tmpfs that only this process sees bounds
the sum, and is gone when the process is.
"""

from __future__ import annotations

import os
from pathlib import Path

from .namespaces import MS_NODEV, MS_NOSUID, call

FILES = 8192


def private_scratch(scratch: Path, size: int) -> str | None:
    """Mount an own tmpfs over scratch, with what lay in it; "tmpfs", or None if not allowed.

    Only in a mount namespace of this process's own.

    size : bytes that all files together may have besides those
    """
    size += sum(path.lstat().st_size for path in scratch.rglob("*"))
    try:
        before = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        options = f"size={size},nr_inodes={FILES},mode=700".encode()
        call("mount", b"tmpfs", os.fsencode(scratch), b"tmpfs", MS_NOSUID | MS_NODEV, options)
        _fill(before, scratch)
    except OSError:
        return None
    finally:
        os.close(before)
    return "tmpfs"


def _fill(before: int, scratch: Path) -> None:
    """Copy what lay there: the descriptor still shows the old folder."""
    try:
        _copy(Path(f"/proc/self/fd/{before}"), scratch)
    except OSError:
        call("umount", os.fsencode(scratch))
        raise


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

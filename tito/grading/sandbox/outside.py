"""What no limit inside the cage bounds everywhere, looked at from outside, every now and then.

Linux counts no threads of root (RLIMIT_NPROC), and without the tmpfs files are bounded one by one
only.
"""

from __future__ import annotations

import os
from pathlib import Path

THREADS = 1000
FILES = 8192
BLOCK = 512


class Outside:
    """A look at one process and its scratch folder.

    pid        : the process
    scratch    : its folder; what lies there now is not counted
    file_bytes : the limit of one file; all together may have twice that, as in the tmpfs
    """

    def __init__(self, pid: int, scratch: Path, file_bytes: int) -> None:
        self._pid = pid
        self._scratch = scratch
        self._files, self._bytes = used(scratch)
        self._most = 2 * file_bytes

    def excess(self) -> str | None:
        """What the process has too much of, as the end of "it ..."; None if nothing."""
        if threads(self._pid) > THREADS:
            return f"started more than {THREADS} threads"
        files, size = used(self._scratch)
        if files - self._files > FILES:
            return f"made more than {FILES} files"
        if size - self._bytes > self._most:
            return f"wrote more than {self._most >> 20} MB of files"
        return None


def threads(pid: int) -> int:
    """How many threads a process has; 0 where the system does not tell so cheaply."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 0


def used(folder: Path) -> tuple[int, int]:
    """Number and bytes on disk of the files and folders below; it stops counting at many."""
    count = size = 0
    folders = [os.fspath(folder)]
    while folders and count <= 2 * FILES:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue  # just removed
        for entry in entries:
            count += 1
            size += _size(entry)
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
    return count, size


def _size(entry: os.DirEntry) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return 0
    return getattr(status, "st_blocks", -(-status.st_size // BLOCK)) * BLOCK

"""Landlock: the file system as this process may see it, by rights given to folders.

Kernels know more or fewer rights (the "ABI"); each is asked for where it exists. What an older
kernel cannot refuse, the seccomp filter refuses: emptying files (before 3), TCP (before 4), signals
and abstract sockets (before 6).
https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from .libc import set_no_new_privileges, syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every machine
ASK_VERSION = 1
PATH_BENEATH = 1
NO_LOG = 1  # LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF: refusals must not fill the machine's log

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_DIR, MAKE_REG = 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

READ = READ_FILE | READ_DIR
# No links, pipes, sockets or devices: who cleans up after the child must not trip over one.
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2


def version() -> int:
    """The kernel's Landlock ABI; 0 where it has none or it is switched off."""
    try:
        return syscall(CREATE_RULESET, 0, 0, ASK_VERSION)
    except OSError:
        return 0


def restrict(
    readable: Iterable[Path],
    listed: Iterable[Path],
    writable: Iterable[Path],
    abi: int | None = None,
) -> str | None:
    """Confine this thread and all it starts; "landlock7" with the ABI, or None if it cannot.

    readable : files, and folders with all in them
    listed   : folders whose names (also of all folders below) may be listed
    writable : files, and folders with all in them
    abi      : use no more than this ABI has
    """
    abi = min(version(), abi or 1000)
    if abi == 0:
        return None
    handled = _file_rights(abi)
    try:
        set_no_new_privileges()
        rules = _create(handled, abi)
        try:
            for paths, rights in ((readable, READ), (listed, READ_DIR), (writable, WRITE)):
                for path in paths:
                    _allow(rules, path, rights & handled)
            syscall(RESTRICT_SELF, rules, NO_LOG if abi >= 7 else 0)
        finally:
            os.close(rules)
    except OSError:
        return None
    return f"landlock{abi}"


def _file_rights(abi: int) -> int:
    """All rights on files that an ABI knows: handled means refused unless given."""
    known = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    return (1 << known) - 1


def _create(handled: int, abi: int) -> int:
    """A new ruleset; the structure is as long as the ABI knows it."""
    import ctypes

    fields = [handled]
    if abi >= 4:
        fields.append(BIND_TCP | CONNECT_TCP)
    if abi >= 6:
        fields.append(ABSTRACT_SOCKETS | SIGNALS)
    data = struct.pack(f"={len(fields)}Q", *fields)
    buffer = ctypes.create_string_buffer(data, len(data))
    return syscall(CREATE_RULESET, ctypes.addressof(buffer), len(data), 0)


def _allow(rules: int, path: Path, rights: int) -> None:
    """Give rights on a path, if it is there."""
    import ctypes

    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(file).st_mode):
            rights &= ON_FILES
        data = struct.pack("=Qi", rights, file)
        buffer = ctypes.create_string_buffer(data, len(data))
        syscall(ADD_RULE, rules, PATH_BENEATH, ctypes.addressof(buffer), 0)
    finally:
        if not _forgotten_under_pressure(file):
            os.close(file)


def _forgotten_under_pressure(file: int) -> bool:
    """Whether the kernel may drop the file's inode, and our rule with it, when memory gets short.

    So it is with /proc. An open descriptor keeps it (an O_PATH one, good for nothing else).
    """
    return os.readlink(f"/proc/self/fd/{file}").startswith("/proc/")

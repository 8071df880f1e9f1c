"""What the process may be to others: gone with its parent, closed to debuggers, never root."""

from __future__ import annotations

import os
import signal
import struct

from .libc import libc, prctl, set_no_new_privileges

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
CAPABILITY_VERSION = 0x20080522
CAP_DAC_READ_SEARCH = 2


def close_to_others() -> None:
    """Die with the thread that started this process; no core dumps, no debuggers."""
    for option, value in ((PR_SET_PDEATHSIG, int(signal.SIGKILL)), (PR_SET_DUMPABLE, 0)):
        try:
            prctl(option, value)
        except OSError:
            continue


def drop_capabilities() -> str | None:
    """Give up root's powers, or those in an own namespace; "capabilities" if it was root.

    As root the right to read files of others stays, since Python itself may belong to another
    user, with a closed home.
    """
    import ctypes

    root = os.geteuid() == 0
    set_no_new_privileges()
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    kept = 1 << CAP_DAC_READ_SEARCH if root else 0
    sets = struct.pack("=6I", kept, kept, 0, 0, 0, 0)  # effective, permitted, inheritable, twice
    done = libc().capset(ctypes.create_string_buffer(header), ctypes.create_string_buffer(sets))
    return "capabilities" if root and done == 0 else None

"""Calls into the C library of Linux, errors as OSError; ctypes is loaded when first used."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

PR_SET_NO_NEW_PRIVS = 38


@cache
def libc() -> Any:
    """The C library of this process."""
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: int) -> int:
    """Make a system call; addresses are given as numbers."""
    import ctypes

    return _checked(libc().syscall(*(ctypes.c_long(value) for value in (number, *arguments))))


def prctl(option: int, *arguments: int) -> int:
    """prctl(2); arguments not given are 0, as several options ask."""
    import ctypes

    values = (*arguments, 0, 0, 0, 0)[:4]
    return _checked(libc().prctl(ctypes.c_int(option), *(ctypes.c_ulong(v) for v in values)))


def set_no_new_privileges() -> None:
    """No set-uid program helps this process any more; what Landlock and seccomp ask for."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def syscall_error() -> OSError:
    """The error of the call that just failed."""
    import ctypes

    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))


def _checked(result: int) -> int:
    if result < 0:
        raise syscall_error()
    return result

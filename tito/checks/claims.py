"""Claims: what can only be read inside the process that runs a kernel.

    asm = claim("assembly", axpy, y, x, np.float32(2))
    points(1 if "mulps" in asm else 0, "no packed multiplication")

In a notebook the function itself is read. The judge reads it in a fresh process that runs the
given cells, the student's cell that defines it and those above that it names, and of these only
the definitions, see `tito.checks.gate`; and it asks whether the function there answers as the one
that is graded. Even so the reading is the student's word to some degree, and what is earned by
claims is never more than half of an exercise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tito.checks.case import calling_names
from tito.checks.failure import CheckFailed, Failure
from tito.checks.runtime import current
from tito.inside import KINDS

if TYPE_CHECKING:
    from tito.checks.gate import Trick

# Another summation order, or another process, may round differently.
CLOSE = 1e-3


def claim(kind: str, func: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """A reading of the student's function, called with these arguments.

    kind : what to read
        "assembly"    text of all signatures compiled so far
        "llvm"        the same as LLVM's intermediate code
        "signatures"  a list of texts
        "parfors"     loops over prange that stand in no other loop
        "turns"       (turns of the outermost loops over prange, elements of its arguments that were
                      changed last outside of them, those that two turns changed), in plain Python
        "allocations" arrays that compiled code allocates in one call, results too
        "peak_bytes"  the most memory that one call holds, results too
        "products"    (name, shapes of the operands) of each product of arrays in one call
    func : for the first six a function that Numba compiled

    The function is called and changes no argument: it gets copies. Check the values before.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no claim {kind!r}; there are {', '.join(KINDS)}")
    runtime = current()
    runtime.before_check(calling_names())
    return runtime.claim(kind, func, args, kwargs)


def refused(function: str, tricks: Iterable[Trick]) -> CheckFailed:
    """The gate does not let the function's cells through."""
    first = next(iter(tricks))
    return CheckFailed.of(
        Failure(
            function,
            f"{function} cannot be read: its code reaches beyond imports, functions and constants",
            "its code reaches beyond imports, functions and constants",
            rows=[("where", str(first))],
            tries=["keep the kernel's cell to its kernel; try things out in a cell of their own"],
        )
    )


def unreadable(function: str, why: str) -> CheckFailed:
    """There is no such reading; `why` comes from the student's side."""
    return CheckFailed.of(
        Failure(
            function,
            f"{function} cannot be read: {why}",
            "there is nothing to read",
            tries=[
                "does its cell define all that it uses? What a call makes at the top of a cell is "
                "left out here. And what is to be compiled has its decorator"
            ],
        )
    )


def another(function: str) -> CheckFailed:
    """The function behind the gate is not the one that is graded."""
    kind = "gives another result when nothing but its own cell and those it names are run"
    return CheckFailed.of(
        Failure(
            function,
            f"{function} {kind}",
            kind,
            tries=["let it depend on nothing that a later cell, or a call of yours, changes"],
        )
    )


def alike(mine: Any, theirs: Any) -> bool:
    """Whether two results say the same, up to rounding."""
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return False
        if np.array_equal(mine, theirs):
            return True
        if mine.dtype.kind not in "fc":
            return False
        finite = np.abs(theirs[np.isfinite(theirs)])
        size = float(finite.max()) if finite.size else 0.0
        with np.errstate(all="ignore"):
            return bool(np.allclose(mine, theirs, rtol=CLOSE, atol=CLOSE * size, equal_nan=True))
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, (list, tuple)):
        return len(mine) == len(theirs) and all(map(alike, mine, theirs))
    if isinstance(mine, dict):
        return mine.keys() == theirs.keys() and all(alike(mine[k], theirs[k]) for k in mine)
    if isinstance(mine, (float, np.floating)):
        return bool(np.isclose(mine, theirs, rtol=CLOSE, equal_nan=True))
    if isinstance(mine, (bool, int, str, bytes, type(None), np.generic)):
        return bool(mine == theirs)
    return True

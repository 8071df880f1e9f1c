"""What test cells use besides the checks: points, seeds, counted arrays."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from typing import Any

import numpy as np

from tito.checks.case import calling_names
from tito.checks.runtime import Counts, current
from tito.checks.speed import Speed


def points(earned: int | float | Fraction | Speed, message: str | None = None) -> int | float:
    """The last expression of a cell that gives part of its points.

    earned  : a plain number, 0 or more; a bool, NaN or anything else is a mistake of the test.
              What `speed(...)` gave brings its message along
    message : shown to the student: say what is missing, leave it out when nothing is

    >>> points(2)
    2
    """
    if type(earned) is Speed:
        earned, message = earned.earned, message or earned.message
    if type(earned) not in (int, float, Fraction):
        raise TypeError(f"points() takes a plain number, not {type(earned).__name__}")
    if not math.isfinite(earned) or earned < 0:
        raise ValueError(f"points() takes a number from 0 on, not {earned}")
    runtime = current()
    runtime.before_check(calling_names())
    runtime.report_points(earned, message)
    # nbgrader reads the cell's output with float(): a Fraction would not be a number to it.
    return int(earned) if earned == int(earned) else float(earned)


def rng(grade_id: str) -> np.random.Generator:
    """Random numbers for one test cell: the same on every run, other ones in the judge.

    The seed comes from the course's secret and the cell's grade_id. A notebook has no secret, so
    what students see while they work is not what a hidden test uses.
    """
    seed = hashlib.sha256(current().secret() + b"\0" + grade_id.encode()).digest()
    return np.random.default_rng(int.from_bytes(seed, "little"))


def remote_array(x: np.ndarray, name: str | None = None, *, budget: int | None = None) -> Any:
    """An array that counts the reads and writes of its elements, see `tito.counted`.

    It has the strides of `x` and a copy of its elements.

    name   : for messages; it is an input, and so read-only, unless its name is "out"
    budget : accesses after which the kernel is stopped as wasteful; 300,000 if not given
    """
    return current().remote_array(x, name, budget)


def counts(array: Any) -> Counts:
    """The exact number of reads and writes of a `remote_array` so far."""
    return current().counts(array)


def worker() -> int:
    """Inside a callback: the thread of the student's code that made the call."""
    return current().worker()

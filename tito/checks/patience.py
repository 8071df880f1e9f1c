"""Waiting for other threads on a machine that may have no CPU for them.

    came = wait_for(turn, lambda: len(begun) == 3, seconds=5)     # turn: a threading.Condition

A timeout of the clock on the wall fails right code where the machine stands still for longer than
that. Here a second only counts while those who are waited for could have come.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tito.checks.runtime import current

TICK = 0.05
# So much of the time counts in which a process gets no CPU at all: nobody is waited for for ever.
LEAST = 1 / 20


def wait_for(condition: threading.Condition, come: Callable[[], bool], seconds: float = 5) -> bool:
    """`condition.wait_for(come, seconds)`, but only time counts in which threads could run."""
    return patiently(lambda tick: condition.wait_for(come, tick), seconds)


def patiently(waits: Callable[[float], bool], seconds: float) -> bool:
    """Call `waits`, which waits for so many seconds at most, until it is true or time is up.

    A machine, or a process, that stood still between two looks counts as one that did so for one
    look. Where the functions run in a process of their own that wants a CPU and has none, only the
    time counts that it got.
    """
    runtime, counted = current(), 0.0
    now, used = time.monotonic(), runtime.cpu_seconds()
    while not waits(min(TICK, seconds)):
        last, used_before = now, used
        now, used = time.monotonic(), runtime.cpu_seconds()
        step = min(now - last, 2 * TICK)
        if runtime.is_held_up():
            step = max(min(step, used - used_before), LEAST * step)
        counted += step
        if counted >= seconds:
            return waits(0)
    return True

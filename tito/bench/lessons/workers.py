"""Threads that are watched: what each of them computed, and who lets go of the interpreter."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from tito.machine import timer

CALLS = 50
# Seconds for which no thread is told to let go of the interpreter: longer than any call.
NEVER = 1000.0
PATIENCE = 60.0


def one_interpreter_lock() -> bool:
    """Whether this Python has a lock that only one thread can hold."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def gil_ticks(function: Callable[..., Any], *args: Any, calls: int = CALLS) -> int:
    """How often another thread came to run Python while `calls` calls were made.

    The other thread counts and lets go at once. Nobody is asked to let go while this runs, so it
    advances only where the function does so by itself: 0 says that threads cannot overlap there.
    """
    ticks = [0]
    stop = False

    def count() -> None:
        while not stop:
            ticks[0] += 1
            time.sleep(0)

    with _nobody_is_interrupted():
        other = threading.Thread(target=count, daemon=True)
        other.start()
        try:
            while not ticks[0]:
                time.sleep(0.001)
            before = ticks[0]
            for _ in range(calls):
                function(*args)
            return ticks[0] - before
        finally:
            stop = True
            other.join()


@contextmanager
def _nobody_is_interrupted() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(NEVER)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def critical_path(jobs: Sequence[Callable[[], Any]]) -> float:
    """CPU seconds of the busiest of the threads that do one job each."""
    seconds = [0.0] * len(jobs)

    def work(number: int) -> None:
        begin = timer.clock()
        jobs[number]()
        seconds[number] = timer.clock() - begin

    _run_together([partial(work, number) for number in range(len(jobs))])
    return max(*seconds, 1e-9)


def count_together(updates: int, shared: bool) -> int:
    """What two threads count that add 1 so often each, and meet between reading and writing.

    shared : one count for both; else one each, added up at the end
    """
    counts = [0] if shared else [0, 0]
    meeting = threading.Barrier(2, timeout=PATIENCE)

    def add(mine: int) -> None:
        for _ in range(updates):
            seen = counts[mine]
            meeting.wait()
            counts[mine] = seen + 1
            meeting.wait()

    _run_together([partial(add, 0 if shared else who) for who in range(2)])
    return sum(counts)


def _run_together(jobs: Sequence[Callable[[], Any]]) -> None:
    """Each in a thread of its own, all begun at once; what one of them raises is raised here."""
    start = threading.Barrier(len(jobs), timeout=PATIENCE)

    def run(job: Callable[[], Any]) -> None:
        start.wait()
        job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(run, job) for job in jobs]:
            done.result()

"""On which CPU the student's process runs, and when it stands still."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tito.grading.engine.base import stat_of
from tito.grading.judge.session import Session


@contextmanager
def pinned(session: Session, cpu: int | None) -> Iterator[None]:
    """The process runs on one CPU in the block; None where a system cannot say which.

    Two CPUs of one machine are not equally fast: each shares a core or a cache with somebody.
    So what is to be compared runs on the same.
    """
    if cpu is not None:
        session.channel.pin({cpu})
    try:
        yield
    finally:
        if cpu is not None and session.ended is None:
            session.channel.pin(os.sched_getaffinity(0))


@contextmanager
def held(session: Session) -> Iterator[None]:
    """The process stands still in the block, but while it answers a request."""
    session.held = True
    _hold(session)
    try:
        yield
    finally:
        session.held = False
        if session.ended is None:
            session.channel.resume()


@contextmanager
def awake(session: Session) -> Iterator[None]:
    """The process runs in the block. If it was held, no window pays for what it does there."""
    if not session.held:
        yield
        return
    session.channel.resume()
    try:
        yield
    finally:
        _hold(session)


@contextmanager
def turn(session: Session) -> Iterator[None]:
    """The process, held until now, runs for one answer."""
    session.channel.resume()
    try:
        yield
    finally:
        if session.ended is None:
            session.channel.pause()


def _hold(session: Session) -> None:
    if session.ended is None:
        session.channel.pause()
        session.charged = session.channel.cpu_seconds()


class SharedCpu:
    """The CPU on which the judge and the student's process both run, while a test needs that.

    Each access to a counted array wakes one process and puts the other to sleep. From one CPU
    to another that can take twenty times as long.
    """

    def __init__(self) -> None:
        self._others: set[int] | None = None  # the CPUs there are, while two run on one

    def come_close(self, session: Session | None) -> None:
        """Run the student's process on this thread's CPU until `part`."""
        if self._others is not None or session is None or not hasattr(os, "sched_setaffinity"):
            return
        with suppress(OSError, ValueError, IndexError):
            here = {_current_cpu()}
            self._others = os.sched_getaffinity(0)
            os.sched_setaffinity(0, here)
            session.channel.pin(here)

    def part(self, session: Session | None) -> None:
        """Each where the system likes, if they had come close."""
        cpus, self._others = self._others, None
        if cpus is not None:
            with suppress(OSError):
                os.sched_setaffinity(0, cpus)
            if session is not None and session.ended is None:
                session.channel.pin(cpus)


def _current_cpu() -> int:
    """The CPU that this thread runs on; Linux."""
    return int(stat_of(Path("/proc/thread-self"))[36])

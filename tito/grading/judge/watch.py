"""Ends a student's process that passes a limit."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tito.grading.engine.base import Channel, waited_for_cpu
from tito.grading.limits import HELD_UP

TICK = 0.05
LONGEST_TICK = 4 * TICK  # as which a longer one counts
CPUS = os.cpu_count() or 1
LOOK_EVERY = 4  # ticks: counting files takes longer than reading a clock
# Less CPU than this in the idle time counts as doing nothing (a sleeping Python wakes up at times).
IDLE_CPU = 0.05


class Budget:
    """What one piece of work may use: seconds of CPU and of wall time.

    may_idle : whether the wall time alone says how long it may do nothing
    """

    def __init__(self, cpu_end: float, wall: float, passed: str, may_idle: bool) -> None:
        self.cpu_end = cpu_end
        self.wall = wall
        self.passed = passed
        self.may_idle = may_idle
        self.asleep = 0.0
        self.held_up = 0.0


class Watch:
    """Looks at the process's clock from a thread of its own, some twenty times a second.

    CPU decides. Wall time counts only while the judge waits for the process, not while it runs a
    callback for it. While the process waits for a CPU or a disk, or the judge for a CPU to answer
    it with, there is `HELD_UP` times as much of it: a machine that has none to give is no fault of
    a student's.

    end    : called once, with the reason, when a limit is passed
    excess : looks at what else is limited; the reason if there is too much of it
    """

    def __init__(
        self,
        channel: Channel,
        idle: float,
        end: Callable[[str], None],
        excess: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._channel = channel
        self._idle = idle
        self._end = end
        self._excess = excess
        self._budgets: dict[int, Budget] = {}
        self._forgiven = 0.0  # CPU seconds
        self._pauses = 0
        self._here = threading.local()  # .paused: how many pauses this thread is in
        self._lock = threading.Lock()
        self._closed = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def cpu_seconds(self) -> float:
        """What the process has used, without what it was charged while the machine stood still."""
        return self._channel.cpu_seconds() - self._forgiven

    @contextmanager
    def allow(self, cpu: float, wall: float, passed: str, may_idle: bool = False) -> Iterator[None]:
        """The limits for the work in the block, and what to say when the CPU limit is passed."""
        budget = Budget(self.cpu_seconds() + cpu, wall, passed, may_idle)
        self._budgets[id(budget)] = budget
        try:
            yield
        finally:
            self._budgets.pop(id(budget), None)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """The judge itself works: wall time does not count."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """The judge waits for the process, in the midst of its own work or not: time counts."""
        own = getattr(self._here, "paused", 0)
        self._count(-own)
        try:
            yield
        finally:
            self._count(own)

    def _count(self, pauses: int) -> None:
        with self._lock:
            self._pauses += pauses
            self._here.paused = getattr(self._here, "paused", 0) + pauses

    def close(self) -> None:
        self._closed.set()

    def _run(self) -> None:
        last, last_cpu = time.monotonic(), self._channel.cpu_seconds()
        quiet, quiet_cpu = 0.0, 0.0
        waited, ticks = waited_for_cpu(os.getpid()), 0
        while not self._closed.wait(TICK):
            ticks += 1
            now, cpu = time.monotonic(), self._channel.cpu_seconds()
            held_up = self._channel.is_held_up()
            # A judge that was itself stopped for a while (a laptop's lid) is nobody's fault, nor is
            # what the system charges for that to whoever ran.
            if now - last > LONGEST_TICK:
                self._forgiven += max(0.0, cpu - last_cpu - LONGEST_TICK * CPUS)
            passed, last, last_cpu = min(now - last, LONGEST_TICK), now, cpu
            before, waited = waited, waited_for_cpu(os.getpid())
            # Less than nothing where a thread that had waited has ended.
            starved = passed if held_up else min(passed, max(0.0, waited - before))
            quiet += passed - starved
            if self._may_idle() or cpu - quiet_cpu > IDLE_CPU or held_up:
                quiet, quiet_cpu = 0.0, cpu
            step = 0.0 if self._pauses else passed
            reason = self._passed(
                cpu - self._forgiven, max(0.0, step - starved), min(step, starved)
            )
            if reason is None and quiet > self._idle:
                reason = f"did nothing for {self._idle:g} s"
            if reason is None and ticks % LOOK_EVERY == 0:
                reason = self._excess()
            if reason is not None and not self._closed.is_set():
                self._end(reason)
                return

    def _may_idle(self) -> bool:
        budgets = list(self._budgets.values())
        return not budgets or self._pauses > 0 or any(b.may_idle for b in budgets)

    def _passed(self, cpu: float, asleep: float, held_up: float) -> str | None:
        for budget in list(self._budgets.values()):
            budget.asleep += asleep
            budget.held_up += held_up
            if cpu > budget.cpu_end:
                return budget.passed
            if budget.asleep + budget.held_up / HELD_UP > budget.wall:
                return f"took longer than {budget.wall:g} s"
        return None

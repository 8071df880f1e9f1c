"""When a process is ended: what counts as doing nothing, and what does not."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from tito.grading.engine.base import Channel, waited_for_cpu
from tito.grading.judge import watch
from tito.grading.judge.watch import Watch

IDLE = 0.3
TICK = watch.TICK


class StandingStill:
    """A channel to a process whose clock does not move; counts how often that is looked at."""

    def __init__(self, held_up: bool = False) -> None:
        self.held_up = held_up
        self.looks, self.counts = 0, True

    def cpu_seconds(self) -> float:
        self.looks += self.counts
        return 1.0

    def is_held_up(self) -> bool:
        return self.held_up


class Beside(Channel):
    """A process that is looked at from outside, nothing else."""

    recv = recv_into = send = cpu_seconds = kill = close = exit_reason = take_output = None


Beside.__abstractmethods__ = frozenset()


@pytest.fixture
def every_look_takes(monkeypatch):
    """The watch's own clock: it moves by so many seconds at each look, however long one takes."""

    def set_clock(seconds: float) -> None:
        now = itertools.count()
        clock = SimpleNamespace(monotonic=lambda: next(now) * seconds)
        monkeypatch.setattr(watch, "time", clock)
        monkeypatch.setattr(watch, "TICK", 0.001)

    set_clock(TICK)
    monkeypatch.setattr(watch, "waited_for_cpu", lambda pid: 0.0)
    return set_clock


@pytest.fixture
def the_judge_has_no_cpu(every_look_takes, monkeypatch):
    """The judge's threads waited for one from each look to the next."""
    waited = itertools.count()
    monkeypatch.setattr(watch, "waited_for_cpu", lambda pid: next(waited) * TICK)


def ended(
    channel, seconds: float = 4 * IDLE, wall: float = 60.0, idle: float = IDLE, **options
) -> str | None:
    """Why work in which nothing happens is ended, or None if it is not within the seconds."""
    over, reasons = threading.Event(), []

    def end(reason: str) -> None:
        reasons.append(reason)
        over.set()

    channel.counts = False  # on a busy machine it looks many times before anything is limited
    watching = Watch(channel, idle, end)
    with watching.allow(5.0, wall, "took too much", **options):
        channel.counts = True
        while channel.looks * TICK < seconds and not over.wait(0.001):
            pass
    watching.close()
    return reasons[0] if reasons else None


def test_who_sleeps_is_ended(every_look_takes):
    assert ended(StandingStill(), 60.0) == f"did nothing for {IDLE} s"


def test_who_sleeps_while_the_whole_machine_stood_still_is_not_idle(every_look_takes):
    """Each look at the clock comes an hour after the one before."""
    every_look_takes(3600.0)
    assert ended(StandingStill(), 60 * TICK, idle=20.0, wall=15.0) is None


class Charged(StandingStill):
    """At the fifth look its clock has moved by more than the limit."""

    def cpu_seconds(self) -> float:
        return super().cpu_seconds() + 20.0 * (self.looks > 5)


def test_who_is_charged_for_time_in_which_the_whole_machine_stood_still_is_not_ended(
    every_look_takes,
):
    asked = {"idle": 60.0, "wall": 60.0}
    assert ended(Charged(), 60 * TICK, **asked) == "took too much"
    every_look_takes(20.0)
    assert ended(Charged(), 60 * TICK, **asked) is None


def test_what_one_call_was_charged_the_next_does_not_pay_for(every_look_takes):
    every_look_takes(20.0)
    channel, over = Charged(), threading.Event()
    watching = Watch(channel, 60.0, lambda reason: over.set())
    while channel.looks < 20:
        pass
    assert 1.0 <= watching.cpu_seconds() < 5.0
    with watching.allow(0.5, 60.0, "took too much"):
        while channel.looks < 60 and not over.is_set():
            pass
    watching.close()
    assert not over.is_set()


def test_who_is_looked_at_seldom_is_ended_all_the_same(every_look_takes):
    """A judge that has no CPU itself cannot tell use from charge: some of each look counts."""
    every_look_takes(1.0)
    busy = Charged()
    busy.cpu_seconds = lambda: StandingStill.cpu_seconds(busy) * busy.looks
    assert ended(busy, 600 * TICK, idle=60.0, wall=1e6) == "took too much"


def test_who_waits_for_a_cpu_or_a_disk_is_not_idle(every_look_takes):
    assert ended(StandingStill(held_up=True)) is None


def test_wall_time_that_a_process_waits_for_a_cpu_counts_less(every_look_takes):
    wall = 0.5
    asked = {"wall": wall, "may_idle": True}
    assert ended(StandingStill(), 1.5 * wall, **asked) == f"took longer than {wall:g} s"
    assert ended(StandingStill(held_up=True), 1.5 * wall, **asked) is None
    # It ends all the same: nothing is waited for without end.
    assert ended(StandingStill(held_up=True), 60.0, **asked) == f"took longer than {wall:g} s"


def test_who_waits_for_a_judge_that_has_no_cpu_is_not_idle(the_judge_has_no_cpu):
    assert ended(StandingStill()) is None


def test_wall_time_that_the_judge_waits_for_a_cpu_counts_less(the_judge_has_no_cpu):
    """The process sleeps until it is answered, and the judge has no CPU to answer with."""
    wall = 0.5
    asked = {"wall": wall, "may_idle": True}
    assert ended(StandingStill(), 1.5 * wall, **asked) is None
    assert ended(StandingStill(), 60.0, **asked) == f"took longer than {wall:g} s"


def test_who_starts_may_take_the_wall_time_it_has(every_look_takes):
    assert ended(StandingStill(), may_idle=True) is None
    assert ended(StandingStill(), 60.0, wall=IDLE, may_idle=True) == f"took longer than {IDLE:g} s"


@pytest.mark.skipif(sys.platform != "linux", reason="the state of threads is read from /proc")
@pytest.mark.parametrize("line, held_up", [("while True: pass", True), ("input()", False)])
def test_the_state_of_a_process_is_read_from_outside(line, held_up):
    process = subprocess.Popen(
        [sys.executable, "-c", f"print(flush=True)\n{line}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        process.stdout.readline()
        channel = Beside()
        channel.pid = process.pid
        # One that has begun to wait may still be on its way there.
        end = time.monotonic() + 60
        while channel.is_held_up() is not held_up and time.monotonic() < end:
            time.sleep(0.01)
        assert {channel.is_held_up() for _ in range(200)} == {held_up}
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="what threads waited is read from /proc")
def test_what_waits_for_a_cpu_is_seen_from_outside():
    """Four that want one CPU wait for it three times as long as they have it; one that sleeps
    waits for none."""
    spinning = [sys.executable, "-c", "while True: pass"]
    cpu = {min(os.sched_getaffinity(0))}
    processes = [subprocess.Popen(spinning) for _ in range(4)]
    sleeping = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        for process in processes:
            os.sched_setaffinity(process.pid, cpu)
        end = time.monotonic() + 60
        while waited_for_cpu(processes[0].pid) < 1 and time.monotonic() < end:
            time.sleep(0.01)
        assert all(waited_for_cpu(process.pid) > 0.1 for process in processes)
        channel, ran = Beside(), 0.0
        for channel.pid in [process.pid for process in processes]:
            ran += sum(channel.thread_seconds().values())
        assert sum(waited_for_cpu(process.pid) for process in processes) > 2 * ran
        sleeping.stdout.readline()  # until it has started it does want a CPU
        before = waited_for_cpu(sleeping.pid)
        time.sleep(0.3)
        assert waited_for_cpu(sleeping.pid) - before < 0.1
    finally:
        for process in [*processes, sleeping]:
            process.kill()
            process.communicate()


def test_a_process_that_ends_while_it_is_looked_at_is_no_error(monkeypatch):
    def gone(path):
        raise FileNotFoundError(path)

    channel = Beside()
    channel.pid = os.getpid()
    monkeypatch.setattr(os, "scandir", gone)
    monkeypatch.setattr(os, "listdir", gone)
    assert channel.is_held_up() is False
    assert channel.thread_seconds() == {}
    assert waited_for_cpu(channel.pid) == 0.0

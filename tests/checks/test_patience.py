"""Who waits for threads does not count the time in which a machine had no CPU for them."""

from __future__ import annotations

import itertools
import threading
from types import SimpleNamespace

import pytest

from tito.checks import CheckFailed, Meeting, expect_returns, patience, wait_for
from tito.checks.notebook import NotebookRuntime
from tito.checks.runtime import use


class Machine(NotebookRuntime):
    """A clock, and what the process that is waited for got of it while it wanted a CPU.

    share : None where it sleeps
    """

    def __init__(self, share: float | None = None) -> None:
        super().__init__()
        self.now, self.used, self.share = 0.0, 0.0, share

    def monotonic(self) -> float:
        return self.now

    def goes_on(self, seconds: float) -> None:
        self.now += seconds
        self.used += (self.share or 0.0) * seconds

    def cpu_seconds(self) -> float:
        return self.used

    def is_held_up(self) -> bool:
        return self.share is not None


@pytest.fixture
def waited(monkeypatch):
    """Of a machine, and how long each look takes: after which time nobody is expected any more."""

    def time_is_up(machine: Machine, looks: dict[int, float]) -> float:
        turns = itertools.count()

        def waits(tick: float) -> bool:
            machine.goes_on(looks.get(next(turns), tick))
            return False

        monkeypatch.setattr(patience, "time", SimpleNamespace(monotonic=machine.monotonic))
        with use(machine):
            assert patience.patiently(waits, 5.0) is False
        return machine.now

    return time_is_up


def test_a_sleeping_process_is_given_up_when_the_seconds_are_over(waited):
    assert waited(Machine(), {}) == pytest.approx(5.0, abs=0.06)


def test_a_machine_that_stood_still_takes_no_time_from_anybody(waited):
    assert waited(Machine(), {3: 10.0, 8: 60.0}) == pytest.approx(75.0, abs=0.5)


def test_a_process_that_wants_a_cpu_is_given_as_much_of_it(waited):
    assert waited(Machine(share=0.1), {}) == pytest.approx(50.0, rel=0.05)
    assert waited(Machine(share=1.0), {}) == pytest.approx(5.0, abs=0.06)


def test_one_that_gets_none_is_given_up_as_well(waited):
    assert waited(Machine(share=0.0), {}) == pytest.approx(100.0, rel=0.05)


def test_who_comes_at_last_has_come():
    turn, come = threading.Condition(), []

    def comes():
        with turn:
            come.append(1)
            turn.notify()

    threading.Timer(0.2, comes).start()
    with turn:
        assert wait_for(turn, lambda: bool(come), seconds=60) is True
    with turn:
        assert wait_for(turn, lambda: len(come) == 2, seconds=0.05) is False


def stopped_for(machine, monkeypatch, seconds):
    """A machine that stands still for so long each time that somebody looks at the clock."""
    monkeypatch.setattr(
        patience,
        "time",
        SimpleNamespace(monotonic=lambda: machine.goes_on(seconds) or machine.now),
    )
    return use(machine)


@pytest.mark.clock
def test_a_meeting_takes_place_though_the_machine_stood_still(monkeypatch):
    meet, second = Meeting(2, seconds=5.0), threading.Event()

    def comes_late():
        second.wait(0.3)
        meet()

    with stopped_for(Machine(), monkeypatch, 60.0):
        thread = threading.Thread(target=comes_late)
        thread.start()
        assert meet() == 0
        thread.join()
        with pytest.raises(CheckFailed):
            Meeting(2, seconds=0.15)()


def test_a_call_comes_back_though_the_machine_stood_still(monkeypatch):
    late = threading.Event()
    with stopped_for(Machine(), monkeypatch, 60.0):
        assert expect_returns(lambda: late.wait(0.3), seconds=5) is False

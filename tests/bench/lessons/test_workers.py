"""Watched threads: who lets go of the interpreter, who is busy how long, what gets lost."""

import sys
import threading
import time

import pytest

from tito.bench.lessons import workers

# Threads are seen only if the machine lets them run.
pytestmark = pytest.mark.clock

locked = pytest.mark.skipif(
    not workers.one_interpreter_lock(), reason="this Python has no interpreter lock"
)


@locked
def test_python_code_never_lets_go():
    assert workers.gil_ticks(sorted, range(500)) == 0
    assert workers.gil_ticks(lambda: sum(x * x for x in range(500))) == 0
    # Far longer than the 5 ms after which a thread is otherwise told to let go.
    assert workers.gil_ticks(lambda: sum(x * x for x in range(500_000)), calls=2) == 0


@locked
def test_waiting_lets_go():
    assert workers.gil_ticks(time.sleep, 0.001, calls=5) >= 1


@locked
def test_afterwards_all_is_as_before():
    before, running = sys.getswitchinterval(), threading.active_count()
    workers.gil_ticks(sorted, [1], calls=2)
    assert sys.getswitchinterval() == before and threading.active_count() == running


@locked
def test_a_call_that_fails_leaves_no_thread_counting():
    before, running = sys.getswitchinterval(), threading.active_count()
    with pytest.raises(ZeroDivisionError):
        workers.gil_ticks(lambda: 1 / 0)
    assert sys.getswitchinterval() == before and threading.active_count() == running


def test_the_critical_path_is_the_busiest_threads(monkeypatch):
    """By a clock that the jobs turn themselves, each its own."""
    mine = threading.local()
    monkeypatch.setattr(workers.timer, "clock", lambda: getattr(mine, "now", 0.0))

    def job(seconds):
        return lambda: setattr(mine, "now", seconds)

    assert workers.critical_path([job(1.0), job(3.0), job(2.0)]) == 3.0


def test_a_job_that_fails_is_not_taken_for_quick():
    with pytest.raises(ZeroDivisionError):
        workers.critical_path([lambda: 1 / 0, lambda: None])


@pytest.mark.parametrize("updates", [1, 37])
def test_a_shared_count_loses_every_second_update_and_private_ones_none(updates):
    assert workers.count_together(updates, shared=True) == updates
    assert workers.count_together(updates, shared=False) == 2 * updates

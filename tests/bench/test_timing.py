"""Contenders timed in turn: what the timer is asked for, and what it notices later."""

import time

import numpy as np
import pytest

from tito.bench import timing
from tito.bench.ladders import WORKLOADS
from tito.bench.timing import time_in_turn
from tito.bench.trial import Contender, Problem

# Of the real clock: it chooses how many calls there are.
pytestmark = pytest.mark.clock


@pytest.fixture
def problem():
    return Problem(WORKLOADS["relu"], (40, 30))


def right(x):
    return np.maximum(x, 0)


def after(calls, otherwise):
    """Right for so many calls."""
    count = iter(range(10**9))
    return lambda x: right(x) if next(count) < calls else otherwise(x)


def test_all_get_the_very_same_arrays(problem):
    """Neither layout nor alignment nor values can make the difference."""
    seen = []

    def looks(x):
        seen.append((x.ctypes.data, x.strides))
        return right(x)

    time_in_turn([Contender("a", looks), Contender("b", looks)], problem, 1, rounds=2)
    assert set(seen) == {(problem.inputs[0].ctypes.data, (120, 4))}


def test_samples_are_as_many_as_rounds_and_in_order(problem):
    found = time_in_turn([Contender("a", right), Contender("b", right)], problem, 1, rounds=4)
    assert [(len(row["samples"]), row["left_out"]) for row in found] == [(4, None)] * 2
    assert all(row["calls"] > 1 for row in found)


@pytest.mark.parametrize(
    ("otherwise", "words"),
    [
        (lambda x: right(x) + np.float32(1), "result is wrong"),
        (lambda x: 1 // 0, "ZeroDivisionError"),
        (lambda x: x.fill(0) or right(x), "changed its input"),
    ],
)
def test_what_goes_wrong_while_it_is_timed_has_no_time(problem, otherwise, words):
    """Right at first and not later: such as state that is kept between calls."""
    before = problem.inputs[0].copy()
    contenders = [Contender("a", after(30, otherwise)), Contender("b", right)]
    bad, good = time_in_turn(contenders, problem, 1, rounds=3)
    assert words in bad["left_out"] and bad["samples"] == []
    assert good["left_out"] is None and np.array_equal(problem.inputs[0], before)


@pytest.mark.parametrize(("threads", "sees_waiting"), [(1, False), (2, True)])
def test_one_thread_is_timed_by_its_cpu_and_several_by_the_wall(problem, threads, sees_waiting):
    contender = Contender("waits", lambda x: time.sleep(0.01) or right(x))
    [found] = time_in_turn([contender], problem, threads, rounds=1)
    assert (found["samples"][0] > 0.009) == sees_waiting


def test_a_measurement_has_rounds_enough_for_percentiles():
    assert timing.ROUNDS >= 20 and timing.PATIENCE < 10

"""What one access to a counted array costs; `pytest -s` prints it."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from tito.checks.runtime import Counts
from tito.grading.judge.runtime import JudgeRuntime

STUDENT = """
def total(x):
    return sum(x[i, j] for i in range(x.shape[0]) for j in range(x.shape[1]))
"""
ACCESSES = 60 * 60


def test_an_access_takes_microseconds(shared):
    # Not wall time: others may be using the machine, and what is booked while it stands still is
    # not booked each time. Twenty times what is usual is a mistake.
    assert any(seconds_of_accesses(shared) < 600e-6 * ACCESSES for _ in range(5))


def seconds_of_accesses(shared):
    """Of CPU, in both processes."""
    runtime = JudgeRuntime(shared.world)
    x = runtime.remote_array(np.ones((60, 60)), "x")
    with shared.test("total") as total:
        wall, ours, theirs = time.perf_counter(), time.process_time(), shared.world.seconds
        assert total(x) == ACCESSES
        wall, ours = time.perf_counter() - wall, time.process_time() - ours
        theirs = shared.world.seconds - theirs
    assert runtime.counts(x) == Counts(ACCESSES, 0)
    each = {"wall": wall, "judge": ours, "student": theirs}
    print("us an access:", {name: round(s / ACCESSES * 1e6, 1) for name, s in each.items()})
    return ours + theirs


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no CPUs to choose from")
def test_both_processes_share_a_cpu_while_elements_are_asked_for_and_no_longer(shared):
    everywhere = os.sched_getaffinity(0)
    if len(everywhere) < 2:
        pytest.skip("needs two CPUs")
    pid = shared.world._session.channel.pid
    runtime = JudgeRuntime(shared.world)
    with shared.test("total") as total:
        total(runtime.remote_array(np.ones((2, 2)), "x"))
        assert os.sched_getaffinity(0) == os.sched_getaffinity(pid)
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == os.sched_getaffinity(pid) == everywhere

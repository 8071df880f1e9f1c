"""Points for threads do not depend on what else the machine does: no clock decides them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tito.course import Course
from tito.grading.audit import handmade, judged, setting_of
from tito.notebook import load

ROOT = Path(__file__).parents[3]
BURN = """
import time
end = time.monotonic() + 900
print(flush=True)
while time.monotonic() < end:
    pass
"""
COURSE = Course(ROOT)
REF = COURSE.resolve("06")
MASTER = load(REF.source)
# Wrong in ways that a lucky order of events could hide: each must lose the same in every run.
WRONG = ("threads_as_completed", "threads_not_closed", "threads_one_too_many", "histogram_shared")


@contextmanager
def busy_cores() -> Iterator[None]:
    """A process that only counts, on every core."""
    burners = []
    try:
        for _ in range(os.cpu_count() or 1):
            command = [sys.executable, "-c", BURN]
            burners.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        for burner in burners:
            burner.stdout.read(1)
        yield
    finally:
        for burner in burners:
            burner.kill()
        for burner in burners:
            burner.communicate()


def points_of(master, submission) -> dict:
    setting = setting_of(COURSE, REF, MASTER)
    result = setting.grade(master, submission)
    return {cell.id: cell.points for cell in result.automatic}


def full() -> dict:
    return {c.grade_id: c.points for c in MASTER.cells if c.points and not c.manual}


def wrong_ones() -> list:
    mutants = handmade.read_all(ROOT / "tests" / "mutants" / REF.name)
    return [m for m in mutants if m.name in WRONG]


def test_points_are_the_same_while_every_core_is_busy():
    with busy_cores():
        assert points_of(MASTER, MASTER) == full()


@pytest.mark.slow
def test_points_are_the_same_in_twenty_runs_while_every_core_is_busy():
    with busy_cores():
        for _ in range(20):
            assert points_of(MASTER, MASTER) == full()


@pytest.mark.slow
@pytest.mark.parametrize("mutant", wrong_ones(), ids=lambda m: m.name)
def test_what_is_wrong_loses_the_same_in_five_runs_while_every_core_is_busy(mutant):
    focused, submission = judged._pair(MASTER, [mutant])
    with busy_cores():
        runs = [points_of(focused, submission) for _ in range(5)]
    assert runs[0][mutant.fails_in] == 0
    assert all(run == runs[0] for run in runs)

"""What `tito grade run --timing` says a batch cost, and whose code it went to."""

import re

import pytest

from tests.grading.judge.samples import as_file, hand_in, master, solution, test_cell
from tito.grading.batch import Batch
from tito.grading.executors import threads
from tito.grading.handins import HandIn
from tito.grading.judge.result import GRADED
from tito.grading.timing import EARLY, Timing
from tito.notebook import Cell, Notebook

# Of the real clock.
pytestmark = pytest.mark.clock

pytest.importorskip("resource")

BURN = """
import time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""


def handins(nb, count):
    data = as_file(nb)
    return [HandIn(f"s{n}", GRADED, read=lambda: data) for n in range(count)]


def timed(nb, own, engine, count=1):
    timing = Timing()
    batch = Batch(nb, timing=True, engine=engine)
    rows = batch.run(handins(own, count), threads(1), timing.watching(lambda row: None))
    timing.finish()
    assert [r.result.status for r in rows] == [GRADED] * count
    return timing


def module(test):
    return Notebook([Cell("code", BURN), solution("f", "def f(x): ..."), test_cell("t", test)])


def hand_in_of(test, body):
    cells = [Cell("code", BURN), solution("f", f"def f(x):\n    {body}"), test_cell("t", test)]
    return Notebook(cells)


def test_time_in_the_students_function_is_the_students(any_engine):
    test = "assert f(3) == 3"
    timing = timed(module(test), hand_in_of(test, "burn(0.4)\n    return x"), any_engine)
    assert timing.student >= 0.35 > 2 * timing.module
    assert timing.total > timing.student + timing.module


def test_time_in_the_test_cell_is_the_modules(any_engine):
    test = "burn(0.4)\nassert f(3) == 3"
    timing = timed(module(test), hand_in_of(test, "return x"), any_engine)
    assert timing.module >= 0.35 > 2 * timing.student


def test_time_in_a_callback_is_the_modules(any_engine):
    test = "assert f(lambda: burn(0.4)) is None"
    timing = timed(module(test), hand_in_of(test, "return x()"), any_engine)
    assert timing.module >= 0.35 > 2 * timing.student


def test_the_report_says_where_the_time_went_and_what_one_hand_in_cost():
    timing = timed(master(), hand_in(), "spawn", 2)
    report = timing.report()
    figures = [float(n) for n in re.findall(r"(\d+\.\d+) s", report)]
    total, student, of_module, ours, each = figures
    assert abs(total - student - of_module - ours) < 0.02
    assert abs(each - ours / 2) < 0.01
    assert "times that after" not in report


def test_memory_is_compared_with_that_after_a_few(any_engine):
    timing = timed(master(), hand_in(), any_engine, EARLY + 1)
    report = timing.report()
    assert re.search(rf"this process +\d+\.\d MB, 1\.\d+ times that after {EARLY}", report)
    (judge,) = re.findall(r"warm judge.* (\d+)\.\d MB", report)
    assert (int(judge) > 10) == (any_engine == "fork")

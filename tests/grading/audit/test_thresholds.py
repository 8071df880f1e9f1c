"""Whether published speed steps leave room below what the reference reaches."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from tests.grading.judge.samples import solution, test_cell
from tito.grading.audit.thresholds import measure, speed_cells
from tito.grading.judge import CellResult
from tito.machine import instruction_set
from tito.notebook import Notebook

SPEED = "points(speed(fast, slow, draw, points=2, full={full}, half=1.5))"


def master(full=3, hidden=False):
    return Notebook(
        [
            solution("fast", "def fast(x): return x"),
            test_cell("fast-test", "assert fast(1) == 1"),
            test_cell("fast-speed", SPEED.format(full=full), hidden=hidden),
        ]
    )


class Runs:
    """A judge in whose runs the reference reaches these ratios."""

    def __init__(self, *ratios):
        self.ratios = list(ratios)
        self.masters = []

    def grade(self, own, submission):
        self.masters.append(own)
        ratio = self.ratios.pop(0)
        said = None if ratio else "fast: graded by its values"
        speed = CellResult("fast-speed", "passed", Fraction(2), message=said, ratio=ratio)
        return SimpleNamespace(automatic=[CellResult("fast-test", "passed", Fraction(2)), speed])


def test_the_lowest_of_the_runs_decides():
    (cell,) = measure(master(full=3), Runs(6.5, 5.0, 7.0, 6.0, 6.1))
    assert (cell.ratios, cell.lowest, cell.most) == ([6.5, 5.0, 7.0, 6.0, 6.1], 5.0, 3.0)
    assert cell.problem is None
    assert "\n".join(cell.lines()) == (
        "fast-speed: fast against slow\n"
        f"    steps    full 3, half 1.5 ({instruction_set()})\n"
        "    ratios   6.5  5  7  6  6.1\n"
        "    lowest   5, so a full step is at most 3"
    )


def test_a_step_above_that_is_a_problem():
    (cell,) = measure(master(full=3.1), Runs(6.5, 5.0, 7.0, 6.0, 6.1))
    assert cell.problem == "fast-speed: a full step of 3.1 is above 3, which is 1 + half of (5 - 1)"


def test_a_run_that_measured_nothing_is_a_problem():
    (cell,) = measure(master(), Runs(9.0, None), runs=2)
    assert cell.problem == "fast-speed: fast: graded by its values"


def test_steps_of_other_instruction_sets_bind_nobody_here():
    other = next(s for s in ("avx2", "generic") if s != instruction_set())
    (cell,) = measure(master(full={other: 90}), Runs(2.0), runs=1)
    assert cell.steps is None and cell.problem is None
    assert f"no step for {instruction_set()} CPUs" in "\n".join(cell.lines())


def test_without_a_step_for_this_cpu_a_pass_by_values_is_no_problem():
    other = next(s for s in ("avx2", "generic") if s != instruction_set())
    (cell,) = measure(master(full={other: 90}), Runs(None), runs=1)
    assert cell.problem is None and cell.ratios == []


def test_a_hidden_speed_is_opened_for_its_author():
    judge = Runs(4.0)
    (cell,) = measure(master(full=2, hidden=True), judge, runs=1)
    assert cell.ratios == [4.0]
    assert not any(c.hidden for c in judge.masters[0].cells)


@pytest.mark.parametrize("source", ["assert fast(1)", "other.speed(fast)"])
def test_a_module_without_speeds_is_not_run(source):
    nb = Notebook([solution("fast", "def fast(x): return x"), test_cell("fast-test", source)])
    assert speed_cells(nb) == measure(nb, Runs()) == []

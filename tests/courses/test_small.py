"""The small course: right work earns all, the stub nothing, wrong work nothing where it is wrong.

Everything is graded twice: by the judge, and as plain Jupyter does it, in one process.
"""

from __future__ import annotations

import ast
import linecache
import sys
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.courses.small_course import hand_in, master
from tests.courses.wrong import WRONG, Wrong
from tito.grading.judge import CellResult, Result, grade
from tito.notebook import Notebook, Role
from tito.strip import strip_solutions

TESTS = [cell.grade_id for cell in master().of_role(Role.TEST)]
# The speed cell has tests of its own: tests/grading/judge/test_speed_graded.py.
EXERCISES = [cell.grade_id for cell in master().of_role(Role.SOLUTION)][1:]


@cache
def judged(row: int) -> Result:
    """One hand-in with the wrong kernel number `row` of each exercise that has so many."""
    sources = {w.exercise: w.source for w in WRONG if w.row == row}
    return grade(master(*EXERCISES), hand_in(*EXERCISES, **sources))


def cells(result: Result) -> dict[str, CellResult]:
    return {cell.id: cell for cell in result.cells}


def test_the_reference_earns_every_point():
    result = grade(master(), hand_in())
    assert {c.id: c.status for c in result.cells if c.status != "passed"} == {}
    assert result.points == result.max_points and not result.deviations


def test_the_stub_earns_nothing():
    result = grade(master(), strip_solutions(master()))
    assert {c.id: c.points for c in result.cells if c.points} == {}
    assert "exercise 4" in cells(result)["run_threads-test"].message


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_work_earns_nothing_where_it_is_wrong(wrong: Wrong):
    result = judged(wrong.row)
    mine = {t: cells(result)[t] for t in TESTS if t.startswith(f"{wrong.exercise}-")}
    for name, cell in mine.items():
        short = name.removeprefix(f"{wrong.exercise}-")
        want = Fraction(wrong.earned.get(short, 0))
        assert cell.points == want, (name, cell.message)
    assert wrong.message in "\n".join(cell.message or "" for cell in mine.values())


def test_every_graded_cell_is_failed_by_some_wrong_kernel():
    failed = {
        f"{w.exercise}-{name}"
        for w in WRONG
        for name in ("test", "count", "packed", "together", "hidden")
        if not w.earned.get(name)
    }
    assert {t for t in TESTS if not t.startswith("series")} <= failed


# As in plain Jupyter


def ran(notebook: Notebook, *tests: str) -> dict[str, Any]:
    """Points of test cells as nbgrader would read them: the last value, or all."""
    names: dict[str, Any] = {"__name__": "__main__"}
    earned = {}
    for cell in notebook.cells:
        if cell.role in (Role.GIVEN, Role.SOLUTION):
            exec(shown(cell.source, cell.label), names)
        elif cell.grade_id in tests:
            try:
                value = valued(cell.source, cell.grade_id, names)
                earned[cell.grade_id] = cell.points if value is None else Fraction(str(value))
            except Exception as error:
                earned[cell.grade_id] = error
    return earned


def shown(source: str, name: str) -> Any:
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[name] = (len(source), None, lines, name)
    return compile(source, name, "exec")


def valued(source: str, name: str, names: dict[str, Any]) -> Any:
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    shown(source, name)
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names) if last else None


def test_in_jupyter_the_reference_earns_every_point():
    tests = [t for t in TESTS if t != "series-speed"]
    earned = ran(master(), *tests)
    assert {t: e for t, e in earned.items() if e != master().by_id(t).points} == {}


# Forbidden routes need a running shell (tests/test_forbid.py), meetings in vain take seconds
# (tests/checks/test_meeting.py).
IN_JUPYTER = [w for w in WRONG if w.exercise not in ("row_products", "run_threads")]
IN_JUPYTER = [w for w in IN_JUPYTER if not w.judge_only]


@pytest.mark.parametrize("wrong", IN_JUPYTER, ids=str)
def test_in_jupyter_wrong_work_earns_nothing_where_it_is_wrong(wrong: Wrong):
    tests = [t for t in TESTS if t.startswith(f"{wrong.exercise}-")]
    earned = ran(hand_in(wrong.exercise, **{wrong.exercise: wrong.source}), *tests)
    for name, value in earned.items():
        want = wrong.earned.get(name.removeprefix(f"{wrong.exercise}-"), 0)
        assert (0 if isinstance(value, Exception) else value) == want, (name, value)


@pytest.mark.skipif(sys.platform == "win32", reason="16 ms a switch of threads")
def test_right_threads_never_lose():
    tests = ["run_threads-together", "run_threads-hidden"]
    for _ in range(30):
        assert list(ran(master("run_threads"), *tests).values()) == [2, 1]

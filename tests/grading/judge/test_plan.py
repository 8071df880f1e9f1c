"""Which cell runs where, and masters that cannot be graded with."""

import pytest

from tests.grading.judge.samples import CLAMP, hand_in, master, solution, test_cell
from tito.errors import UserError
from tito.grading.judge.plan import Step, check_master, later_cells_change_names, make_plan
from tito.grading.judge.rebuild import rebuild
from tito.notebook import Cell, Notebook


def plan_of(nb, own=None):
    return make_plan(nb, rebuild(nb, own or nb))


def on(plan, side):
    return [s for s in plan.steps if isinstance(s, Step) and getattr(s, side)]


def test_given_cells_run_on_both_sides_solutions_in_s_only():
    plan = plan_of(master(), hand_in())
    assert [s.kind for s in on(plan, "in_s")] == ["given", "solution", "solution"]
    assert [s.kind for s in on(plan, "in_g")] == ["given"]
    assert [t.id for t in plan.tests] == ["clamp-test", "clamp-hidden", "double-test"]


def test_measure_cells_give_their_imports_to_s_and_nothing_else():
    nb = master()
    nb.cells.insert(4, Cell("code", "#| measure\nimport statistics\nprint(clamp(1, 2, 3))"))
    plan = plan_of(Notebook(nb.cells), hand_in())
    sources = [s.source for s in on(plan, "in_s")]
    assert "import statistics" in sources
    assert not any("print" in s for s in sources)


def test_imports_of_a_hidden_test_stay_in_g():
    nb = master()
    nb.cells[4].source = "import fractions\nassert clamp(-7, -3, 3) == -3"
    plan = plan_of(nb, hand_in())
    assert not any("fractions" in s.source for s in on(plan, "in_s"))
    assert any("fractions" in s.source for s in on(plan, "in_g"))


def test_a_given_cell_that_uses_a_name_of_a_test_is_not_run():
    nb = master()
    nb.cells[3].source = "def check():\n    assert clamp(12, 0, 10) == 10\ncheck()"
    nb.cells.append(Cell("code", 'if __name__ == "__main__":\n    check()'))
    plan = plan_of(Notebook(nb.cells), hand_in())
    assert not any("check()" in s.source for s in on(plan, "in_s"))


def test_a_hidden_region_is_taken_out_of_what_students_see():
    nb = master()
    nb.cells[3].source = "\n".join(
        [
            "assert clamp(1, 0, 2) == 1",
            "### BEGIN HIDDEN TESTS",
            "assert clamp(5, 0, 2) == 2",
            "### END HIDDEN TESTS",
        ]
    )
    [test] = [t for t in plan_of(nb, hand_in()).tests if t.id == "clamp-test"]
    assert "clamp(5" not in test.shown and "clamp(1" in test.shown
    assert test.shown.count("\n") == test.source.count("\n")
    assert test.secret_lines == {2, 3, 4}


def test_a_test_belongs_to_the_exercise_above_it():
    plan = plan_of(master(), hand_in())
    assert [t.exercise for t in plan.tests] == [2, 2, 5]


@pytest.mark.parametrize("points", [-1, float("nan"), "2", 1e308, True, None])
def test_bad_points_name_the_cell(points):
    nb = master()
    nb.cells[3] = test_cell("clamp-test", "pass", points)
    with pytest.raises(UserError, match=r"clamp-test.*points are") as caught:
        check_master(Notebook(nb.cells))
    assert "clamp-test" in str(caught.value)


def test_a_graded_cell_without_points_is_refused():
    nb = master()
    del nb.cells[3].nbgrader["points"]
    with pytest.raises(UserError, match="has no points"):
        check_master(nb)


@pytest.mark.parametrize("grade_id", ["clamp", "", None])
def test_double_and_missing_grade_ids_are_refused(grade_id):
    nb = master()
    nb.cells[5] = solution(grade_id, CLAMP)
    with pytest.raises(UserError, match="grade_id"):
        check_master(Notebook(nb.cells))


def test_all_problems_of_a_master_are_told_at_once():
    nb = master()
    nb.cells[3].nbgrader["points"] = -1
    nb.cells[6].nbgrader["points"] = "many"
    with pytest.raises(UserError) as caught:
        check_master(nb)
    assert "clamp-test" in str(caught.value) and "double-test" in str(caught.value)


def test_a_test_that_is_no_python_is_refused():
    nb = master()
    nb.cells[3].source = "assert clamp(1, 2"
    with pytest.raises(UserError, match="no Python"):
        check_master(nb)


def test_a_master_without_graded_cells_is_refused():
    with pytest.raises(UserError, match="no graded cell"):
        check_master(Notebook([Cell("code", "x = 1")]))


def test_the_students_copy_of_a_hidden_cell_is_empty():
    [hidden] = [t for t in plan_of(hand_in(), hand_in()).tests if t.id == "clamp-hidden"]
    assert hidden.empty


@pytest.mark.parametrize(
    "cells, changes",
    [
        ([], False),
        (["x = 1", "x = 2"], False),  # no solution knows x
        (["def clamp(*a): return 0"], True),  # a second answer below
        (["max = min"], False),  # used by a solution, bound once
        (["max = min", "def max(*a): return 0"], True),
        (["import math"], False),  # the same import again
        (["math = None"], False),  # no solution uses it
        (["from math import floor as max", "min = max"], False),
    ],
)
def test_a_name_bound_twice_makes_the_order_matter(cells, changes):
    own = Notebook([*hand_in().cells, *(Cell("code", source) for source in cells)])
    assert later_cells_change_names(plan_of(master(), own)) is changes


def test_an_answer_that_is_replaced_makes_the_order_matter():
    own = hand_in()
    own.cells.insert(3, solution("clamp", CLAMP))
    assert later_cells_change_names(plan_of(master(), Notebook(own.cells)))

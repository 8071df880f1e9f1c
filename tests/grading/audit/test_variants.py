"""Blanks do nothing in the shape of something, and do not touch each other's exercises."""

from __future__ import annotations

import numpy as np
import pytest

from tests.grading.audit.sample import DOUBLE, LARGEST, small_master, solution
from tito.grading.audit import variants
from tito.notebook import Role

CLASS = """\
class Counter:
    def __init__(self):
        ### BEGIN SOLUTION
        self.n = 0
        ### END SOLUTION

    def add(self, by):
        ### BEGIN SOLUTION
        self.n += by
        return self.n
        ### END SOLUTION


def given_helper():
    return 7
"""


@pytest.fixture
def master():
    return small_master()


def run(source):
    names = {"math": __import__("math"), "np": np}
    exec(source, names)
    return names


def test_bodies_return_none_or_their_first_argument():
    cell = solution("largest", LARGEST)
    assert run(variants.returns_none(cell))["largest"]([1.0]) is None
    assert run(variants.returns_first_argument(cell))["largest"]([1.0]) == [1.0]


def test_methods_are_blank_and_given_helpers_stay():
    names = run(variants.returns_first_argument(solution("c", CLASS)))
    assert names["Counter"]().add(5) == 5
    assert names["given_helper"]() == 7
    assert run(variants.returns_none(solution("c", CLASS)))["Counter"]().n == 0


def test_zeros_have_the_shape_and_dtype_of_the_right_answer():
    source = (
        "def f(x):\n    ### BEGIN SOLUTION\n"
        "    return x + 1, {'sum': float(x.sum()), 'n': len(x)}, [True], 'text'\n"
        "    ### END SOLUTION\n"
    )
    array, table, items, text = run(variants.returns_zeros(solution("f", source)))["f"](
        np.ones((2, 3), np.float32)
    )
    assert array.dtype == np.float32
    assert array.shape == (2, 3)
    assert not array.any()
    assert table == {"sum": 0.0, "n": 0}
    assert type(table["sum"]) is float
    assert items == [False]
    assert text == ""


def test_zeros_go_into_what_the_function_writes():
    source = (
        "#| writes: y\ndef fill(x, y, other):\n    ### BEGIN SOLUTION\n"
        "    y[:], other[:] = x, x\n    ### END SOLUTION\n"
        "fill.py_func = lambda x, y: y.__setitem__(..., x)\n"
    )
    fill = run(variants.returns_zeros(solution("fill", source)))["fill"]
    x, y, other = np.ones(3), np.full(3, 7.0), np.zeros(3)
    assert fill(x, y=y, other=other) is None
    assert x.all() and not y.any() and other.all()
    y[:] = 7
    fill.py_func(x, y)
    assert x.all() and not y.any(), "the function behind a compiled one"


def test_zeros_of_methods_leave_given_ones_alone():
    given = CLASS + "\n\nclass Given:\n    def seven(self):\n        return 7\n"
    names = run(variants.returns_zeros(solution("c", given)))
    assert names["Counter"]().add(5) == 0
    assert names["Given"]().seven() == 7
    assert names["given_helper"]() == 7


def test_an_exercise_that_another_uses_has_a_round_of_its_own(master):
    assert variants.rounds(master) == [["double"], ["largest"]]


def test_a_hand_in_holds_the_wrong_cell_and_the_reference_else(master):
    handed = variants.hand_in(master, {"double": "wrong"})
    assert handed.by_id("double").source == "wrong"
    assert handed.by_id("largest").source == LARGEST
    assert master.by_id("double").source == DOUBLE


def test_only_the_tests_of_the_exercises_that_are_tried_stay(master):
    focused = variants.only_tests_of(master, ["double"])
    assert [t.grade_id for t in focused.of_role(Role.TEST)] == ["double-test"]
    assert [c.grade_id for c in focused.of_role(Role.SOLUTION)] == ["largest", "double"]
    assert focused.of_role(Role.MEASURE) == []

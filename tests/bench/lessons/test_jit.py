"""The lessons of 07: both sides do the same, and what is not there is left out."""

from functools import partial

import numpy as np
import pytest

from tito.bench.lessons import jit
from tito.checks import CheckFailed
from tito.machine import probes

NEEDS_NUMBA = pytest.mark.skipif(probes.missing() is not None, reason="Numba is missing")


def test_each_promise_has_its_lesson():
    names = [lesson.name for lesson in jit.lessons()]
    assert len(set(names)) == len(names) == 11
    goals = {"tiles" if name.startswith("tiles") else name for name in names}
    goals -= {"error of exp", "relu kernel"}
    assert jit.AT_LEAST["avx512"].keys() == goals
    assert all(promised.keys() <= goals for promised in jit.AT_LEAST.values())


@NEEDS_NUMBA
def test_a_package_without_the_kernels_leaves_all_out(monkeypatch):
    monkeypatch.setattr(jit, "load", lambda kernel: None)
    assert {lesson.left_out for lesson in jit.lessons()} == {jit.NOT_EXPORTED}


def test_without_a_measured_ratio_nothing_is_promised(monkeypatch):
    monkeypatch.setattr(jit, "instruction_set", lambda: "none such")
    *timed, error = jit.lessons()
    assert all(lesson.prepare is None for lesson in timed)
    assert error.band.high == jit.LARGEST_ERROR


@NEEDS_NUMBA
def test_the_polynomial_is_within_its_error():
    lesson = jit.largest_error()
    assert lesson.band.holds(lesson.prepare()())


def test_two_sides_that_disagree_are_not_timed():
    def doubled(arrays, out):
        return partial(np.multiply, *arrays, 2, out=out)

    def increased(arrays, out):
        return partial(np.add, *arrays, 2, out=out)

    x = np.ones((2, 3), np.float32)
    first, second = jit._pair(doubled, doubled, x)
    assert np.array_equal(first(), second())
    with pytest.raises(CheckFailed):
        jit._pair(doubled, increased, x)


@pytest.mark.parametrize(("distance", "near"), [(0, 0), (32, 0), (64, 1), (500, 1), (512, 0)])
def test_which_places_lie_close_behind_each_other(distance, near):
    room = np.zeros(4 * jit.PAGE, np.uint8)
    assert jit._close_behind(room[jit.PAGE + distance :], room) == bool(near)


def test_room_is_looked_for_until_it_lies_well(monkeypatch):
    answers = iter([True, False, True, False, False])
    monkeypatch.setattr(jit, "_close_behind", lambda second, first: next(answers))
    inputs = (np.ones(3, np.float32), np.ones(3, np.float32))
    assert jit._room((2, 3), inputs).shape == (2, 3)
    assert next(answers, None) is None  # one input was near, then the other, then none


def test_room_is_given_in_the_end(monkeypatch):
    monkeypatch.setattr(jit, "_close_behind", lambda second, first: True)
    assert jit._room((2,), (np.ones(2, np.float32),)).dtype == np.float32

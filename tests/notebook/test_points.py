"""Points are exact: tenths and thirds add up."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.notebook.points import as_number, display, exact, problem


def test_tenths_and_thirds_are_what_was_meant():
    assert sum(exact(0.1) for _ in range(10)) == 1
    assert exact(0.3333333333333333) == Fraction(1, 3)
    assert exact(2.5) == Fraction(5, 2)


@given(st.integers(0, 1000), st.integers(1, 999))
def test_a_fraction_survives_its_float(numerator, denominator):
    value = Fraction(numerator, denominator)
    assert exact(float(value)) == value
    assert exact(as_number(value)) == value


@pytest.mark.parametrize(
    ("value", "text", "number"),
    [
        (Fraction(7, 3), "2.33", 7 / 3),
        (Fraction(12), "12", 12),
        (Fraction(5, 2), "2.5", 2.5),
        (Fraction(100), "100", 100),
        (Fraction(0), "0", 0),
    ],
)
def test_points_for_people_and_for_json(value, text, number):
    assert display(value) == text
    assert as_number(value) == number
    assert isinstance(as_number(value), int) == (value.denominator == 1)


@pytest.mark.parametrize("value", [True, "3", None, [1], float("nan"), float("inf"), -1, 1001])
def test_what_can_be_no_points(value):
    assert repr(value) in problem(value)


@pytest.mark.parametrize("value", [0, 3, 2.5, 1000])
def test_what_can_be_points(value):
    assert problem(value) is None

"""From ratios to steps: the interval, the doubt, the thresholds of a CPU."""

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.checks.steps import FULL, HALF, NONE, Measured, Steps, rank, steps_for

STEPS = Steps(full=4.0, half=2.0)


@pytest.mark.parametrize(
    ("ratio", "share"), [(4.0, FULL), (9, FULL), (3.99, HALF), (2, HALF), (1.99, NONE), (0.1, NONE)]
)
def test_a_ratio_earns_the_step_it_reaches(ratio, share):
    assert STEPS.reached(ratio) == share


def test_without_a_half_step_there_is_all_or_nothing():
    assert Steps(4.0).reached(3.9) == NONE


def test_one_odd_round_of_nine_moves_nothing():
    measured = Measured.of([5.0, 5.1, 4.9, 5.2, 4.8, 5.0, 5.1, 5.0, 0.7])
    assert (measured.low, measured.median, measured.high) == (4.8, 5.0, 5.1)
    assert not measured.in_doubt(STEPS)


def test_in_doubt_the_better_step_counts():
    measured = Measured.of([3.8, 3.9, 3.9, 4.0, 4.1, 4.1, 4.2])
    assert measured.in_doubt(STEPS) and measured.share(STEPS) == FULL
    measured = Measured.of([3.5] * 7)
    assert not measured.in_doubt(STEPS) and measured.share(STEPS) == HALF


def test_few_rounds_are_trusted_less():
    few = Measured.of([3.5, 3.5, 3.5])
    assert few.low < 3 and few.high > 4


@pytest.mark.parametrize("n", [6, 7, 9, 12, 20, 31])
def test_the_interval_holds_the_median_as_often_as_it_says(n):
    draw = random.Random(n)
    held = 0
    for _ in range(2000):
        measured = Measured.of([draw.lognormvariate(0, 0.5) for _ in range(n)])
        held += measured.low <= 1.0 <= measured.high
    assert held / 2000 > 0.94


def test_more_rounds_narrow_the_interval():
    draw = random.Random(1)
    ratios = [draw.lognormvariate(0, 0.2) for _ in range(31)]
    width = {n: rank(n) / n for n in (7, 15, 31)}
    assert width[7] < width[15] < width[31]
    assert Measured.of(ratios).high < Measured.of(ratios[:7]).high


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40))
def test_the_interval_lies_around_the_median(ratios):
    measured = Measured.of(ratios)
    assert measured.low <= measured.median <= measured.high
    assert measured.median == statistics.median(ratios)


def test_thresholds_of_this_cpu():
    full, half = {"avx512": 6, "avx2": 3.5}, {"avx512": 2}
    assert steps_for(full, half, "avx512") == Steps(6.0, 2.0)
    assert steps_for(full, half, "avx2") == Steps(3.5, None)
    assert steps_for(full, half, "generic") is None
    assert steps_for(5, 2, "generic") == Steps(5.0, 2.0)


@pytest.mark.parametrize(
    ("full", "half"),
    [
        (2, 2),
        (2, 3),
        (0, None),
        (-1, None),
        (True, None),
        ("5", None),
        (float("nan"), None),
        (float("inf"), None),
        ({}, None),
        ({"sse9": 2}, None),
        ({"avx2": 2, "avx512": 5}, {"avx2": 3}),
    ],
)
def test_thresholds_that_cannot_be_meant(full, half):
    with pytest.raises(ValueError):
        steps_for(full, half, "avx512")

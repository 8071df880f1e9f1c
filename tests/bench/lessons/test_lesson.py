"""A lesson holds where every repeat lies in its band."""

import math

import pytest

from tests.bench.lessons.outcomes import outcome
from tito.bench.lessons.lesson import Band, Lesson, measure_lessons, nearest


@pytest.mark.parametrize(
    ("band", "inside", "outside"),
    [
        (Band(16), [16, 1e9], [15.99, 0]),
        (Band(0.5, 2), [0.5, 1, 2], [0.49, 2.01]),
        (Band(8.5, 8.5), [8.5], [8.4999, 8.5001]),
        (Band(0, 0), [0], [1]),
    ],
)
def test_a_band_has_its_ends(band, inside, outside):
    assert all(map(band.holds, inside)) and not any(map(band.holds, outside))


def test_what_is_no_number_is_outside():
    assert not Band(0.5, 2).holds(math.nan)


def test_nearest_parts_a_scale_of_ratios():
    """sqrt(2) is as many times 1 as 2 is times it."""
    band = nearest(2, below=1, above=8, why="so")
    assert (band.low, band.high, band.why) == (pytest.approx(2**0.5), 4, "so")


def test_one_repeat_outside_is_enough():
    assert outcome("a", 3, 3, 1.9, 3, 3).outside == (1.9,)
    assert outcome("a", 3, 2).outside == ()


def test_median_and_spread_of_the_repeats():
    found = outcome("a", 1, 2, 3, 4, 5)
    assert found.median == 3 and found.spread == pytest.approx((4.6 - 1.4) / 3)
    assert outcome("nothing counted", 0, 0).spread == 0


def test_each_lesson_is_prepared_once_and_measured_as_often_as_asked():
    made, said = [], []

    def prepare():
        made.append("data")
        return iter(range(10)).__next__

    lessons = [
        Lesson("a", "x / y", Band(0), prepare),
        Lesson("b", "x / y", Band(0), None, "no such cache"),
    ]
    first, second = measure_lessons(lessons, 3, lambda *words: said.append(words))
    assert made == ["data"] and first.ratios == (0, 1, 2)
    assert not second.measured and second.outside == ()
    assert said == [(0, 3, "a"), (1, 3, "a"), (2, 3, "a"), (3, 3, "a")]

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


@pytest.fixture
def noted():
    """(lesson that notes its name, data and all) and the list of notes: one for each sample."""
    notes = []

    def lesson(name, samples=1, ratios=None):
        values = iter(ratios or range(1, 99))

        def prepare():
            notes.append(name)
            data = next(values)
            return lambda: float(data)

        return Lesson(name, "x / y", Band(0), prepare, None, samples)

    return lesson, notes


def test_all_lessons_take_turns_each_time_with_data_of_their_own(noted):
    lesson, notes = noted
    left_out = Lesson("c", "x / y", Band(0), None, "no such cache")
    said = []
    first, second, third = measure_lessons(
        [lesson("a"), lesson("b"), left_out], 3, lambda *words: said.append(words)
    )
    assert "".join(notes) == "ababab"
    assert first.ratios == second.ratios == (1, 2, 3)
    assert not third.measured and third.ratios == third.outside == ()
    assert said == [(done, 6, "ab"[done % 2]) for done in range(6)]


def test_the_samples_of_a_repeat_lie_as_far_apart_as_the_run_is_long(noted):
    lesson, notes = noted
    many, few = measure_lessons([lesson("a", samples=3), lesson("b")], 2)
    assert "".join(notes) == "abab" + "aa" + "aa"
    assert many.samples == ((1, 3, 5), (2, 4, 6)) and many.ratios == (3, 4)
    assert few.samples == ((1,), (2,))


def test_a_bad_moment_takes_no_repeat(noted):
    """Six samples in a row are far off: two of each repeat."""
    lesson, _ = noted
    ratios = [1.0] * 5 + [0.1] * 6 + [1.0] * 4
    [found] = measure_lessons([lesson("a", 5, ratios)], 3)
    assert found.ratios == (1, 1, 1)


def test_what_is_slow_throughout_still_shows(noted):
    lesson, _ = noted
    [found] = measure_lessons([lesson("a", 3, [1.0, 0.1] * 5)], 2)
    assert found.ratios == (1, 0.1)

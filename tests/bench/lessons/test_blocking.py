"""The lessons of 05: exact misses agree with what is worked out by hand."""

import pytest

from tito.bench.lessons import blocking
from tito.machine import probes

# One of them is of the real clock.
pytestmark = pytest.mark.clock

COUNTED = [lesson for lesson in blocking.lessons() if "counted" in lesson.name]


@pytest.mark.parametrize("lesson", COUNTED, ids=lambda lesson: lesson.name)
def test_what_is_counted_is_what_is_worked_out_by_hand(lesson):
    assert lesson.band.low == lesson.band.high
    assert lesson.band.holds(lesson.prepare()())


@pytest.mark.parametrize("lesson", COUNTED, ids=lambda lesson: lesson.name)
def test_by_hand_it_would_be_wrong_for_a_cache_that_holds_all(lesson, monkeypatch):
    """The test above can fail."""
    monkeypatch.setattr(blocking, "MODEL", {"size": 2**16, "line": 64, "ways": 8})
    assert not lesson.band.holds(lesson.prepare()())


def test_orders_are_told_apart():
    assert len({lesson.band.low for lesson in COUNTED}) == len(COUNTED) == 4


def test_a_matrix_that_does_not_fit_is_left_out():
    assert "free memory" in blocking.transpose(4096, free=2**28).left_out
    assert blocking.transpose(512, free=2**28).left_out == probes.missing()
    assert blocking.transpose(4096, free=None).left_out == probes.missing()


@pytest.mark.skipif(probes.missing() is not None, reason="Numba is missing")
def test_what_is_timed_gives_a_ratio():
    """At a size at which it says nothing; the real ones are run by `-m slow`."""
    assert 0.01 < blocking.transpose(32, None).prepare()() < 100

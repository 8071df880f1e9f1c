"""The ratio of a timed lesson is the first side's time over the second's."""

import pytest

from tito.bench.lessons import timed
from tito.bench.lessons.lesson import Band
from tito.machine import probes

# One of them is of the real clock.
pytestmark = pytest.mark.clock


@pytest.fixture
def lesson():
    def calls():
        return lambda: sum(range(50_000)), lambda: sum(range(5_000))

    return lambda left_out=None: timed.timed("a", "long / short", Band(3), calls, left_out)


def test_ten_times_the_work_takes_ten_times_as_long(lesson, monkeypatch):
    monkeypatch.setattr(probes, "missing", lambda: None)
    assert 3 < lesson().prepare()() < 30


def test_without_the_probes_it_is_left_out(lesson, monkeypatch):
    monkeypatch.setattr(probes, "missing", lambda: probes.NO_NUMBA)
    assert lesson().prepare is None and lesson().left_out == probes.NO_NUMBA
    assert lesson("no such cache").left_out == "no such cache"


def test_a_count_is_its_own_ratio():
    assert timed.counted("a", "x / y", Band(3), lambda: 7).prepare()() == 7

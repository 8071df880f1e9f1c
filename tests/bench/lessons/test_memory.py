"""The lessons of 04: bands follow from the machine's caches; what is counted is exact."""

import numpy as np
import pytest

from tito.bench.lessons import memory
from tito.machine import probes
from tito.machine.caches import Cache

SMALL = (Cache(1, "data", 2**15, 64), Cache(2, "unified", 2**20, 64), Cache(3, "unified", 2**25))
LONG_LINES = (Cache(1, "data", 2**17, 128), Cache(2, "unified", 2**24, 128))

compiled = pytest.mark.skipif(probes.missing() is not None, reason="Numba is missing")


@pytest.mark.parametrize(("caches", "numbers"), [(SMALL, 16), (LONG_LINES, 32), ((), 16)])
def test_a_column_fetches_a_line_for_each_of_its_numbers(caches, numbers):
    assert memory.column_walk(caches).band.low == numbers


def test_padding_is_shown_where_a_cache_holds_a_column_but_not_the_matrix():
    assert memory.padding(SMALL).left_out == probes.missing()
    assert "L2" in memory.padding(SMALL).band.why
    assert "L1" in memory.padding(LONG_LINES).band.why
    assert "no cache here" in memory.padding(SMALL[:1]).left_out
    assert memory.padding(()).left_out == memory.NO_CACHES


def test_a_machine_that_tells_nothing_of_its_caches_shows_no_staircase():
    [lesson] = memory.latencies((), {"memory": 2**26})
    assert lesson.left_out == memory.NO_CACHES and lesson.prepare is None


def test_each_cache_doubles_the_band_and_memory_is_far_away():
    found = memory.latencies(SMALL, {"memory": 2**27})
    assert [(lesson.name, lesson.band.low) for lesson in found] == [
        ("latency of L2", 2),
        ("latency of L3", 4),
        ("latency of memory", 20),
    ]


def test_where_memory_cannot_be_measured_its_lessons_are_left_out():
    assert "does not fit" in memory.lines_not_numbers({}).left_out
    assert [lesson.name for lesson in memory.latencies(SMALL, {})][-1] == "latency of L3"


def test_padding_on_paper_is_exact():
    lesson = memory.padding_counted()
    assert lesson.band.holds(lesson.prepare()())


def test_padding_on_paper_needs_a_cache_with_sets(monkeypatch):
    """The test above can fail: in one large set no two lines are in each other's way."""
    monkeypatch.setattr(memory, "MODEL", {"size": 4096, "line": 64, "ways": 64})
    lesson = memory.padding_counted()
    assert not lesson.band.holds(lesson.prepare()())


@compiled
@pytest.mark.parametrize(
    "lesson",
    [
        lambda: memory.column_walk(SMALL),
        lambda: memory.padding(SMALL),
        lambda: memory.lines_not_numbers({"memory": 2**16}),
        lambda: memory.latencies(SMALL[:2], {})[0],
    ],
)
def test_what_is_timed_gives_a_ratio(lesson, monkeypatch):
    """At sizes at which it says nothing; the real ones are run by `-m slow`."""
    monkeypatch.setattr(memory, "SIDE", 64)
    monkeypatch.setattr(memory, "ROWS", 32)
    monkeypatch.setattr(memory, "HOPS", 100)
    lesson = lesson()
    if lesson.left_out:  # the smaller matrix fits into a cache
        lesson = memory.padding((Cache(2, "unified", 2**12, 64),))
    assert 0.01 < lesson.prepare()() < 100


@compiled
def test_both_sides_of_a_ratio_do_the_same_work(monkeypatch):
    monkeypatch.setattr(memory, "SIDE", 32)
    monkeypatch.setattr(memory, "ROWS", 32)
    for pair in (memory._two_walks(memory._ones(32, 32)), memory._two_paddings(16)):
        assert [call() for call in pair] == [32 * 32, 32 * 32]


@compiled
def test_steps_touch_what_they_say():
    fourth, sixteenth = memory._two_steps(64 * 4)
    x = fourth.__closure__[0].cell_contents
    fourth()
    sixteenth()
    assert isinstance(x, np.ndarray) and x.sum() == 64 + 16 + 4

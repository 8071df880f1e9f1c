"""The lessons of 06: which hold without a clock, and where each is left out."""

import pytest

from tito.bench.lessons import threads
from tito.machine import probes

# Threads are seen only if the machine lets them run.
pytestmark = pytest.mark.clock

compiled = pytest.mark.skipif(probes.missing() is not None, reason="Numba is missing")


def by_name(name):
    return next(lesson for lesson in threads.lessons() if lesson.name == name)


@pytest.mark.parametrize(
    "name",
    [
        "lock: a Python loop",
        "lock: sorted()",
        "lock: NumPy, 100 numbers",
        "lock: NumPy, 1,000,000 numbers",
        "lock: matmul, 256 x 256",
        "lock: sleep",
        "lost updates",
        "no lost updates",
    ],
)
def test_what_needs_no_clock_holds(name):
    lesson = by_name(name)
    if lesson.left_out:
        pytest.skip(lesson.left_out)
    assert lesson.band.holds(lesson.prepare()())


def test_without_a_lock_nothing_is_said_of_it():
    for lesson in (
        threads.holds_on("x", sum, lock=False),
        threads.lets_go("x", sum, lock=False, cores=4),
    ):
        assert lesson.left_out == threads.NO_LOCK and lesson.prepare is None


def test_one_core_cannot_show_an_overlap():
    assert threads.lets_go("x", sum, lock=True, cores=1).left_out == threads.ONE_CORE
    assert threads.lets_go("x", sum, lock=True, cores=2).left_out is None
    assert threads.lets_go("sleep", sum, lock=True, cores=None).left_out is None


@compiled
@pytest.mark.parametrize(("lesson", "share"), [(threads.halves, 1 / 2), (threads.quarters, 3 / 4)])
def test_two_threads_share_all_of_the_work(lesson, share, monkeypatch):
    """Hops are counted, not timed: the busier thread has its share, both have all."""
    seen = []
    monkeypatch.setattr(threads, "_times_to_fill", lambda call: 3)
    monkeypatch.setattr(threads, "critical_path", lambda jobs: seen.append(jobs) or 1.0)
    hops = {}
    monkeypatch.setattr(
        probes.PointerChase, "run", lambda self, n: hops.setdefault(id(self), []).append(n)
    )
    lesson().prepare()()
    whole, split = seen[:2]
    for job in whole + split:
        job()
    (all_of_it, first), (second,) = hops.values()
    assert first + second == all_of_it == 3 * threads.HOPS
    assert max(first, second) == share * all_of_it


def test_bands_of_splits_do_not_overlap():
    assert threads.quarters().band.high <= threads.halves().band.low


def test_the_blind_clock_gives_a_ratio(monkeypatch):
    monkeypatch.setattr(threads, "_times_to_fill", lambda call: 1)
    assert 0.1 < threads.blind_clock().prepare()() < 10

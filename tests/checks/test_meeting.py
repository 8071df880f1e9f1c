"""Meetings: only calls that run at the same time get through."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tito.checks import CheckFailed, Meeting


def test_threads_that_run_at_the_same_time_meet_again_and_again():
    meet = Meeting(2)
    with ThreadPoolExecutor(2) as pool:
        places = list(pool.map(lambda _: meet(), range(8)))
    assert sorted(places) == [0] * 4 + [1] * 4
    assert meet.workers == 2


def test_one_thread_alone_never_meets():
    meet = Meeting(2, seconds=0.05)
    with pytest.raises(CheckFailed, match="never ran at the same time: only one thread came"):
        meet()
    with pytest.raises(CheckFailed):
        meet()


def test_threads_one_after_the_other_never_meet():
    meet = Meeting(2, seconds=0.05)
    failures = []

    def come():
        try:
            meet()
        except CheckFailed as failure:
            failures.append(str(failure))

    for _ in range(2):
        thread = threading.Thread(target=come)
        thread.start()
        thread.join()
    assert "only one thread came" in failures[0]
    assert "2 threads came, one after the other" in failures[1]


def test_after_a_meeting_in_vain_the_next_one_is_given_up_sooner(monkeypatch):
    monkeypatch.setattr("tito.checks.meeting.SECONDS", 0.05)
    monkeypatch.setattr("tito.checks.meeting.SECONDS_AGAIN", 0.02)
    monkeypatch.setattr(Meeting, "_one_was_in_vain", False)
    with pytest.raises(CheckFailed):
        Meeting(2, seconds=0.01)()  # a test that expects nobody to come says how long it waits
    assert Meeting(2)._seconds == 0.05
    with pytest.raises(CheckFailed):
        Meeting(2)()
    assert Meeting(2)._seconds == 0.02


@pytest.mark.parametrize("parties", [1, 0, 2.0, True])
def test_a_meeting_has_two_parties_or_more(parties):
    with pytest.raises(ValueError, match="two parties"):
        Meeting(parties)

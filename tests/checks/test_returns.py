"""A call that waits for ever is a failed check, also where no judge ends it."""

from __future__ import annotations

import threading

import pytest

from tito.checks import CheckFailed, expect_returns


def test_what_comes_back_in_time_is_handed_on():
    assert expect_returns(divmod, 7, 2) == (3, 1)


def test_what_it_raises_comes_back_as_itself():
    with pytest.raises(ZeroDivisionError):
        expect_returns(divmod, 7, 0)


def test_a_call_that_waits_for_ever_is_a_failure_soon():
    never = threading.Event()

    def waits(item):
        never.wait()
        return item

    with pytest.raises(CheckFailed) as caught:
        expect_returns(waits, 3, seconds=0.05, hint="one pool a call")
    never.set()
    assert "waits  item=3: it did not come back within 0.05 s" in str(caught.value)
    assert "one pool a call" in str(caught.value)
    assert caught.value.public == "waits: it does not come back\n  try       one pool a call"

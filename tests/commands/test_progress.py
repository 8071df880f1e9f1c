"""The bar of long commands: what it says, and where it says nothing."""

from __future__ import annotations

import io

import pytest

from tito.commands.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_it_says_how_far_it_is_and_how_long_it_will_take():
    out, clock = Terminal(), Clock()
    with Progress("grading", 4, out, clock) as progress:
        clock.now += 10
        progress()
        assert out.getvalue().endswith("grading [######..................] 1 of 4, 30 s left")
        clock.now += 10
        progress()
        progress()
        progress()
    last = out.getvalue().rpartition("\r")[2]
    assert last.rstrip(" \n") == "grading [########################] 4 of 4, in 20 s"
    assert last.endswith("\n")


def test_a_shorter_line_leaves_nothing_of_a_longer_one():
    out, clock = Terminal(), Clock()
    progress = Progress("x", 100, out, clock)
    for _ in range(100):
        clock.now += 40
        progress()
    last, before = out.getvalue().split("\r")[:-3:-1]
    assert len(last) >= len(before.rstrip())


def test_it_is_silent_where_nobody_looks():
    out = io.StringIO()
    with Progress("grading", 1, out) as progress:
        progress()
    assert out.getvalue() == ""


def test_nothing_to_do_is_no_mistake():
    out = Terminal()
    with Progress("grading", 0, out) as progress:
        assert "0 of 0" in progress.line(0.0)
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3725, "1 h 02 min")],
)
def test_durations_are_for_people(seconds, words):
    assert duration(seconds) == words

"""Of two twins the first is the baseline, unless its process turns out to be a slow one."""

import random
import statistics

import pytest

from tito.checks.rig import BASELINE, Call, Patience, Window
from tito.grading.judge import rig
from tito.grading.judge.twin import Baseline

WARM_UP = 99.0


class Twin:
    """A target whose windows take the given seconds, one after the other."""

    name, kind, class_name = "baseline", "f", ""

    def __init__(self, seconds):
        self.left = list(seconds)
        self.world = self
        self.called = 0

    def call(self, target, args, kwargs):
        self.called += 1
        return [None]

    def timed(self, target, calls, form):
        return Window(self.left.pop(0), [], [])


def settled(first, second):
    """(whether the second twin became the baseline, windows that each was asked for)."""
    twins, held = [Twin(first), Twin([WARM_UP, *second])], []
    one = rig.OutsideRig(Twin([]), Baseline(twins[0], lambda: twins[1]), held.append)
    assert twins[1] not in held, "it has not started"
    is_slow = one.doubts(lambda: [Call((), {})], None, Patience(0))
    assert held[-1] is twins[1] and twins[1].called == 1
    asked = len(first) - len(twins[0].left)
    assert asked == len(second) - len(twins[1].left)
    assert is_slow == (one._targets[BASELINE] is twins[1])
    assert not one.doubts(lambda: [], None, Patience(0)), "there is no third one"
    return is_slow, asked


@pytest.mark.parametrize("seed", range(200))
def test_a_third_window_is_left_out_only_where_it_could_not_change_the_choice(seed):
    draw = random.Random(seed)
    factor = draw.choice([0.5, 1.0, 1.15, 1.2, 1.3, 2.0])
    first = [factor * draw.uniform(0.9, 1.3) for _ in range(rig.TRIALS)]
    second = [draw.uniform(0.9, 1.3) for _ in range(rig.TRIALS)]
    switched, asked = settled(first, second)
    assert switched == (statistics.median(first) > rig.SLOW * statistics.median(second))
    assert asked in (rig.TRIALS - 1, rig.TRIALS)


def test_two_windows_alike_are_enough_and_two_far_apart_are():
    assert settled([1.0, 1.1, 9.0], [1.0, 1.05, 1.0]) == (False, 2)
    assert settled([2.0, 2.1, 0.1], [1.0, 1.05, 9.0]) == (True, 2)
    assert settled([1.0, 1.3, 1.3], [1.0, 1.05, 1.0]) == (True, 3)

"""Where the judge measures speed: the student's process against its twin, turn by turn.

A process can be slow all its life: of pairs of processes that ran one function, on one CPU and by
their own CPU clocks, one in twelve differed by a factor of 1.6 to 2.4 on a virtual machine with
more work than CPUs, and of those that did, every measurement. So a kernel that a slow twin may have
helped over a step is measured against a second one if the first is slow indeed; and a kernel that
did not reach the full step is measured once more in a fresh process.
"""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tito.checks.rig import (
    BASELINE,
    MOST_CALLS,
    ROOM,
    STUDENT,
    Call,
    Form,
    Patience,
    Window,
    are_seen,
)
from tito.grading.judge.proxy import Proxy, Target, target_of
from tito.grading.judge.twin import Baseline
from tito.grading.judge.windows import stand_in
from tito.grading.judge.world import World
from tito.machine.timer import SHORTEST_SAMPLE

# A request costs the process some 0.2 ms, which a window must dwarf.
SHORTEST_WINDOW = 0.005
# Windows by which the twins are compared; so many times as slow is a slow process.
TRIALS, SLOW = 3, 1.2
# Pairs of them, seen by the clock or not.
MOST_PAIRS = 10


class _TwoTwins:
    """What all rigs of the judge do alike: one student's process, and two that know better.

    hold : called with each world that is measured, and with a fresh one
    """

    reading: str | None

    def __init__(self, student: Target, baseline: Baseline, hold: Callable[[World], None]) -> None:
        self._targets = {STUDENT: student, BASELINE: baseline.first}
        self._other: Callable[[], Target] | None = baseline.second
        self._hold = hold
        for target in self._targets.values():
            hold(target.world)

    def call(self, who: str, call: Call) -> Any:
        return _ordinary(self._targets[who], call)

    def doubts(self, draw: Callable[[], list[Call]], form: Form, patience: Patience) -> bool:
        """Whether the first twin is a slow process; the second is the baseline from then on."""
        if self._other is None:
            return False
        first, second, self._other = self._targets[BASELINE], self._other(), None
        self._hold(second.world)
        self._warm_up(second, draw(), form)

        def pair() -> dict[str, Window]:
            calls = draw()
            twins = {"first": first, "second": second}
            return {name: self._window(twin, calls, form) for name, twin in twins.items()}

        is_slow = _first_is_slow(lambda: patience.until_seen(pair))
        if is_slow:
            self._targets[BASELINE] = second
        return is_slow

    def _warm_up(self, target: Target, calls: Sequence[Call], form: Form) -> None:
        """As far as the other one, which has compiled, and touched all memory of a window."""
        _ordinary(target, calls[0])
        self._window(target, calls, form)

    def renew(self) -> bool:
        """A fresh process of the student's; False if there can be none without risk."""
        student = self._targets[STUDENT]
        if student.name is None or not student.world.renew():
            return False
        self._hold(student.world)
        return True

    def run(self, who: str, calls: Sequence[Call], form: Form) -> Window:
        return self._window(self._targets[who], calls, form)

    def _window(self, target: Target, calls: Sequence[Call], form: Form) -> Window:
        raise NotImplementedError


class OutsideRig(_TwoTwins):
    """The processes stand still but for their own turn; their clocks are read from outside."""

    reading = "of CPU time read from outside"
    shortest = SHORTEST_WINDOW
    most_calls = 64
    room = ROOM

    def _window(self, target: Target, calls: Sequence[Call], form: Form) -> Window:
        return target.world.timed(target, calls, form)


class OwnRig(_TwoTwins):
    """Where no clock can be read from outside: each process reads its own.

    A student's process could set that clock, so this is for one's own work only.
    """

    reading = "own reading"
    shortest = SHORTEST_SAMPLE
    most_calls = MOST_CALLS
    room = ROOM

    def _window(self, target: Target, calls: Sequence[Call], form: Form) -> Window:
        return target.world.timed_by_itself(target, calls)


class BlindRig(OwnRig):
    """Foreign work where no clock can be read from outside: values only."""

    reading = None


def _first_is_slow(pair: Callable[[], dict[str, Window]]) -> bool:
    """Whether the first of two twins is a slow process; it may be where the clock sees too little.

    pair : measures both for the same calls
    """
    first: list[float] = []
    second: list[float] = []
    for _ in range(MOST_PAIRS):
        windows = pair()
        if are_seen(windows.values()):
            first.append(windows["first"].seconds)
            second.append(windows["second"].seconds)
        if (is_slow := _is_slow(first, second)) is not None:
            return is_slow
    return True


def _is_slow(mine: Sequence[float], others: Sequence[float]) -> bool | None:
    """Whether the median of `mine` is that of a slow process; None if that is not known yet.

    Of three numbers the median lies between any two, so that the third may decide nothing.
    """
    if len(mine) == TRIALS:
        return statistics.median(mine) > SLOW * statistics.median(others)
    if len(mine) == TRIALS - 1:
        if max(mine) <= SLOW * min(others):
            return False
        if min(mine) > SLOW * max(others):
            return True
    return None


@contextmanager
def judge_rig(student: Target, baseline: Baseline, *, own: bool) -> Iterator[_TwoTwins]:
    """The rig that this system allows; `own` where the work is one's own."""
    measured = all(each.world.is_measured_outside for each in (student, baseline.first))
    # Without seccomp another process could do the work, and no clock of this one would see it.
    measured = measured and (own or "seccomp" in student.world.layers)
    cpu = _some_cpu()
    with ExitStack() as stack:

        def hold(world: World) -> None:
            stack.enter_context(world.pinned(cpu))
            if measured:
                stack.enter_context(world.held())

        kind = OutsideRig if measured else OwnRig if own else BlindRig
        yield kind(student, baseline, hold)


def _some_cpu() -> int | None:
    """One of the CPUs that may be used; None where processes cannot be told."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    return random.choice(sorted(os.sched_getaffinity(0)))


def _ordinary(target: Target, call: Call) -> Any:
    own = call.copy()
    returned = target.world.call(target, own.args, own.kwargs)[0]
    if isinstance(returned, Proxy):  # no array: what the message says is its type
        returned = stand_in(target_of(returned).class_name)
    return own.result(returned)

"""Where the judge measures speed: the student's process against its twin, turn by turn."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tito.checks.rig import BASELINE, ROOM, STUDENT, Call, Form, Window
from tito.grading.judge.proxy import Proxy, Target, target_of
from tito.grading.judge.world import stand_in
from tito.machine.timer import SHORTEST_SAMPLE

# A request costs the process some 0.2 ms, which a window must dwarf.
SHORTEST_WINDOW = 0.005


class OutsideRig:
    """Both processes stand still but for their own turn; their clocks are read from outside."""

    reading: str | None = "of CPU time read from outside"
    shortest = SHORTEST_WINDOW
    most_calls = 64
    room = ROOM

    def __init__(self, targets: dict[str, Target]) -> None:
        self._targets = targets

    def call(self, who: str, call: Call) -> Any:
        target = self._targets[who]
        with target.world.let_go():
            return _ordinary(target, call)

    def run(self, who: str, calls: Sequence[Call], form: Form) -> Window:
        target = self._targets[who]
        return target.world.timed(target, calls, form)


class OwnRig:
    """Where no clock can be read from outside: each process reads its own.

    A student's process could set that clock, so this is for one's own work only.
    """

    reading: str | None = "own reading"
    shortest = SHORTEST_SAMPLE
    most_calls = 64 if SHORTEST_SAMPLE < 0.01 else 1024
    room = ROOM

    def __init__(self, targets: dict[str, Target]) -> None:
        self._targets = targets

    def call(self, who: str, call: Call) -> Any:
        return _ordinary(self._targets[who], call)

    def run(self, who: str, calls: Sequence[Call], form: Form) -> Window:
        target = self._targets[who]
        return target.world.timed_by_itself(target, calls)


class BlindRig(OwnRig):
    """Foreign work where no clock can be read from outside: values only."""

    reading = None


@contextmanager
def judge_rig(student: Target, baseline: Target, *, own: bool) -> Iterator[OutsideRig | OwnRig]:
    """The rig that this system allows; `own` where the work is one's own."""
    targets = {STUDENT: student, BASELINE: baseline}
    measured = all(target.world.is_measured_outside for target in targets.values())
    # Without seccomp another process could do the work, and no clock of this one would see it.
    measured = measured and (own or "seccomp" in student.world.layers)
    cpu = _some_cpu()
    with ExitStack() as stack:
        for target in targets.values():
            stack.enter_context(target.world.pinned(cpu))
            if measured:
                stack.enter_context(target.world.held())
        if measured:
            yield OutsideRig(targets)
        else:
            yield OwnRig(targets) if own else BlindRig(targets)


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

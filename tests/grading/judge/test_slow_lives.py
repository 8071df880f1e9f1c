"""Points for speed where processes are slow all their life and machines stand still.

No clock is read here and no process started: a window takes as many seconds as its process says.
What `speed` and the judge's rig make of them is the real thing.
"""

from __future__ import annotations

import itertools
import random
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from tito.checks import speed
from tito.checks.notebook import NotebookRuntime
from tito.checks.rig import UNSEEN, Patience, Window
from tito.checks.runtime import use
from tito.grading.judge import rig
from tito.grading.judge.twin import Baseline

# By so much a process was slow all its life, at most.
SLOW = 2.4
CALL = 0.004  # seconds of the baseline
REQUEST = 0.0002  # seconds of a window beside its calls
# That a machine which stood still charges to whoever ran: more than a check may take in all.
STALL = 20.0
FULL = 2.0


class Process:
    """A world whose process runs its function in `seconds` times what this life is slow by.

    lives : how slow each of its processes is, one after the other; none is left: no renewal
    """

    is_measured_outside, layers = True, ["seccomp"]

    def __init__(self, machine, seconds, lives):
        self.machine, self.seconds = machine, seconds
        self.slow, *self.left = lives
        self.calls = self.windows = self.renewals = self.holds = self.most_calls = 0
        self.is_held = False

    def call(self, target, args, kwargs):
        self.calls += 1
        return np.exp(args[0]), ()

    def timed(self, target, calls, form):
        assert self.is_held, "only what stands still out of turn is read from outside"
        return self.timed_by_itself(target, calls)

    def timed_by_itself(self, target, calls):
        self.windows += 1
        self.most_calls = max(self.most_calls, len(calls))
        results = [np.exp(call.args[0]) for call in calls]
        seconds = len(calls) * self.seconds + REQUEST
        return Window(self.machine.takes(seconds * self.slow), results, [])

    def renew(self):
        if not self.left:
            return False
        self.slow = self.left.pop(0)
        self.renewals += 1
        self.is_held = False
        return True

    @contextmanager
    def held(self):
        self.holds += 1
        self.is_held = True
        yield
        self.holds -= 1

    @contextmanager
    def pinned(self, cpu):
        self.machine.cpus.append(cpu)
        yield
        self.machine.cpus.remove(cpu)


class Machine(NotebookRuntime):
    """Three processes, and the clock that says how long their windows took.

    ratio   : how many times as fast as the baseline the kernel is
    student : how slow its processes are, one after the other; twins : the same of both twins
    stalls  : windows, counted over all processes, that pay `stall` seconds for a machine which
              stood still
    blind   : so many windows in which the clock stands still, beginning with the n-th: (n, many);
              or in which part of all windows it does, here and there
    call    : seconds of the baseline
    seed    : of all that is drawn
    tick    : seconds of the clock's step
    """

    def __init__(
        self,
        ratio,
        student=(1.0, 1.0, 1.0),
        twins=(1.0, 1.0),
        *,
        stalls=(),
        stall=STALL,
        blind=(0, 0),
        own=False,
        call=CALL,
        seed=0,
        tick=0.0,
    ):
        super().__init__()
        self.own, self.cpus = own, []
        self.stalls, self.stall, self.counted = set(stalls), stall, 0
        self.draw = random.Random(f"{ratio} {student} {twins} {seed}")
        self.blind = (
            range(blind[0], sum(blind))
            if type(blind) is tuple
            else {window for window in range(10**5) if self.draw.random() < blind}
        )
        self.student = Process(self, call / ratio, student)
        self.first, self.second = (Process(self, call, [slow]) for slow in twins)
        self.asked = False
        self.tick = tick

    def takes(self, seconds):
        stalled = self.counted in self.stalls
        self.counted += 1
        if self.counted - 1 in self.blind:
            return UNSEEN
        took = seconds * self.draw.uniform(0.97, 1.03) + self.stall * stalled
        return max(took // self.tick * self.tick, UNSEEN) if self.tick else took

    def other(self):
        assert not self.asked, "a second twin starts once"
        self.asked = True
        return target(self.second)

    def rig(self, func, baseline):
        return rig.judge_rig(
            target(self.student), Baseline(target(self.first), self.other), own=self.own
        )


def target(process):
    return SimpleNamespace(world=process, name="kernel")


def kernel(x):
    raise AssertionError("the processes run it")


def measured(machine, **options):
    with use(machine):
        options = {"points": 2, "full": FULL, **options}
        found = speed(kernel, kernel, lambda rng: (rng.standard_normal(3),), **options)
    processes = (machine.student, machine.first, machine.second)
    assert not machine.cpus and not any(process.holds for process in processes)
    assert bool(machine.second.calls) == machine.asked
    return found


@pytest.fixture(params=["read from outside", "own reading"])
def clock(request, monkeypatch):
    if request.param == "own reading":
        monkeypatch.setattr(Process, "is_measured_outside", False)
    return request.param


# -- which process is measured


def test_who_is_far_beyond_the_step_is_measured_once(clock):
    machine = Machine(ratio=2.5 * FULL, own=True)
    found = measured(machine)
    assert (found.earned, found.doubt, clock in found.message) == (2, False, True)
    assert (machine.asked, machine.student.renewals) == (False, 0)


def test_who_misses_the_step_is_measured_in_a_fresh_process(clock):
    machine = Machine(ratio=0.5, own=True)
    assert measured(machine).earned == 0
    assert (machine.asked, machine.student.renewals) == (False, 1)


def test_the_better_of_two_processes_counts(clock):
    machine = Machine(ratio=4.5, student=[SLOW, 1.0], own=True)
    found = measured(machine)
    assert (found.earned, found.doubt, machine.student.renewals) == (2, False, 1)
    again = measured(Machine(ratio=3.0, student=[1.0, SLOW], own=True), full=5, half=2)
    assert again.earned == 1 and again.measured.median > 2.5, "not the later one"


@pytest.mark.parametrize("ratio, renewals", [(0.8, 1), (1.2, 2), (1.8, 2), (2.2, 0)])
def test_a_third_process_is_for_whom_a_slow_one_could_keep_from_the_step(ratio, renewals):
    machine = Machine(ratio, student=[1.0] * 9)
    assert measured(machine).earned == (2 if ratio > FULL else 0)
    assert machine.student.renewals == renewals


def test_without_a_fresh_process_the_first_one_counts():
    assert measured(Machine(ratio=1.0, student=[1.0])).earned == 0


def test_a_slow_twin_is_not_the_baseline(clock):
    machine = Machine(ratio=1.0, twins=[SLOW, 1.0], own=True)
    found = measured(machine)
    assert (found.earned, found.doubt, machine.asked) == (0, False, True)
    assert found.measured.median == pytest.approx(1.0, rel=0.05)


def test_the_second_twin_stays_the_baseline_of_a_fresh_process():
    machine = Machine(ratio=0.9, twins=[SLOW, 1.0])
    measured(machine)
    race = machine.student.windows // 2  # of the fresh process
    assert machine.student.renewals == 1 and machine.second.windows > race
    assert machine.first.windows < 2 * race


def test_a_slow_second_twin_is_no_baseline_either(clock):
    machine = Machine(ratio=2.2, twins=[1.0, SLOW], own=True)
    found = measured(machine)
    assert (found.earned, machine.asked) == (2, True)
    assert found.measured.median == pytest.approx(2.2, rel=0.05)


@pytest.mark.parametrize(
    "ratio, asked", [(0.9, False), (1.9, False), (2.2, True), (3.7, True), (4.6, False)]
)
def test_the_second_twin_is_asked_where_a_slow_one_could_have_made_the_step(ratio, asked):
    machine = Machine(ratio)
    measured(machine)
    assert machine.asked == asked


@pytest.mark.parametrize("ratio, asked", [(1.1, False), (1.5, True), (2.7, False), (4.0, True)])
def test_the_same_holds_for_half_a_step(ratio, asked):
    machine = Machine(ratio)
    measured(machine, full=3, half=1.2)
    assert machine.asked == asked


# -- points in all lives

LIVES = list(itertools.product([1.0, SLOW], repeat=5))


@pytest.mark.parametrize("lives", LIVES, ids=lambda lives: "".join("fs"[x > 1] for x in lives))
def test_slow_processes_change_points_only_where_all_of_a_kind_are_slow(lives, clock):
    """A slow kernel gains where both twins are slow, a fast one loses where all of its own are."""
    *student, first, second = lives
    slow = measured(Machine(1.2, student, (first, second), own=True))
    assert slow.earned == 2 * (first == second == SLOW and 1.0 in student)
    fast = measured(Machine(2.5, student, (first, second), own=True))
    assert fast.earned == 2 * (1.0 in student or first == second == SLOW)


# -- a machine that stands still, and charges that to whoever runs


def windows_of(ratio, **options):
    machine = Machine(ratio, **options)
    measured(machine)
    return machine.counted


@pytest.mark.parametrize("call", [1e-3, CALL, 0.12], ids="{:g} s".format)
@pytest.mark.parametrize("ratio, earned", [(1.3, 0), (2.8, 2), (4.5, 2)])
def test_no_window_that_pays_for_a_stall_changes_points(ratio, earned, call):
    for window in range(windows_of(ratio, call=call) + 8):
        found = measured(Machine(ratio, stalls=[window], call=call))
        assert (window, found.earned) == (window, earned)
        assert found.measured.median == pytest.approx(ratio, rel=0.15)


@pytest.fixture
def slept(monkeypatch):
    """Seconds that a race would have slept; nobody sleeps, and other threads are left alone."""
    seconds: list[float] = []
    monkeypatch.setattr("tito.checks.rig.time", SimpleNamespace(sleep=seconds.append))
    return seconds


@pytest.mark.parametrize("ratio, earned", [(1.3, 0), (2.8, 2)])
@pytest.mark.parametrize("first", [0, 2, 3, 9])
def test_nor_does_a_clock_that_stands_still(slept, ratio, earned, first):
    """As a guest's does after time that was taken from it: until as much has passed again."""
    machine = Machine(ratio, blind=(first, 9))
    found = measured(machine)
    assert found.earned == earned
    assert found.measured.median == pytest.approx(ratio, rel=0.15)
    assert 0 < len(slept) <= 9 and slept == sorted(slept)


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("ratio, earned", [(1.3, 0), (2.8, 2)])
def test_nor_does_one_that_does_so_here_and_there(slept, ratio, earned, part):
    for seed in range(25):
        found = measured(Machine(ratio, twins=[SLOW, 1.0], blind=part, seed=seed))
        assert (seed, found.earned, found.doubt) == (seed, earned, False)
        assert sum(slept) < 100
        slept.clear()


@pytest.mark.parametrize("ratio, earned", [(1.3, 0), (2.8, 2)])
def test_nor_does_a_clock_of_64_ticks_a_second(monkeypatch, slept, ratio, earned):
    """As on Windows: it sees no short window, which a pause does not change."""
    monkeypatch.setattr(sys.modules["tito.checks.speed"], "Patience", lambda: Patience(0))
    monkeypatch.setattr(rig.OutsideRig, "shortest", 0.1)
    machine = Machine(ratio, call=0.008, tick=1 / 64)
    found = measured(machine)
    assert (found.earned, slept) == (earned, [])
    assert found.measured.median == pytest.approx(ratio, rel=0.3)
    assert machine.student.most_calls <= 1.2 * 0.1 * ratio / 0.008, "no window for many seconds"


def test_a_clock_that_never_moves_is_not_waited_for_for_ever(slept):
    found = measured(Machine(1.3, blind=(0, 10**6)))
    assert "clock stands still" in found.message and found.doubt
    assert 30 < sum(slept) < 240


@pytest.mark.parametrize("ratio, earned", [(1.3, 0), (2.8, 2)])
def test_nor_do_two(ratio, earned):
    for pair in itertools.combinations(range(windows_of(ratio) + 2), 2):
        assert (pair, measured(Machine(ratio, stalls=pair, stall=5.0)).earned) == (pair, earned)


# -- whose clock


@pytest.mark.parametrize(
    "outside, layers, own, kind",
    [
        (True, ["seccomp"], False, rig.OutsideRig),
        (True, ["seccomp"], True, rig.OutsideRig),
        (True, [], True, rig.OutsideRig),
        (True, [], False, rig.BlindRig),
        (False, ["seccomp"], True, rig.OwnRig),
        (False, ["seccomp"], False, rig.BlindRig),
    ],
)
def test_foreign_work_is_measured_only_from_outside(monkeypatch, outside, layers, own, kind):
    monkeypatch.setattr(Process, "is_measured_outside", outside)
    monkeypatch.setattr(Process, "layers", layers)
    machine = Machine(ratio=1.0, own=own)
    with machine.rig(kernel, kernel) as one:
        assert type(one) is kind
        assert len(machine.cpus) == 2 and len(set(machine.cpus)) == 1, "on one CPU"
        holds = {machine.student.holds, machine.first.holds}
        assert holds == {int(kind is rig.OutsideRig)}
    found = measured(machine)
    assert (found.measured is None) == (kind is rig.BlindRig)
    assert found.earned == (2 if kind is rig.BlindRig else 0)

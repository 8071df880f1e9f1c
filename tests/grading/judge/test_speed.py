"""Speed in the judge: what an honest kernel earns, and that no way round the clock earns more.

The kernels below compute one thing so many times over, the baseline 120 times. These clocks are
real, so the margins are wide: a process can be slow all its life by 2.4 times, one's own or both
twins. A fast kernel is 7.5 times as fast as the baseline where 2 is asked, so no such process takes
its points; a slow one is as fast as the baseline where SLOW_STEP is asked, so none brings it any.
What is close to a step is tried with computed clocks, in test_slow_lives.py. Where a test needs
processes that are alike it may try TRIES times, each time with fresh ones: were even one process in
four a slow one, three in a row would be alike in more than a third of the tries, and all tries in
vain with a probability under 1e-6.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time

import numpy as np
import pytest

from tito.checks import CheckFailed, speed
from tito.checks.runtime import use
from tito.grading.judge import cpus
from tito.grading.judge.plan import Step
from tito.grading.judge.runtime import JudgeRuntime
from tito.grading.judge.twin import Twin
from tito.grading.judge.world import StudentDied, World
from tito.grading.limits import Limits
from tito.grading.stage import make_stage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="clocks are read from outside")

GIVEN = """
import numpy as np

def work(x, passes):
    for _ in range(passes):
        y = np.exp(-x)
    return y

def baseline(x):
    return work(x, 120)

def tiny(x):
    return work(x, 1)

def shift_baseline(y, x):
    y += work(x, 120)
"""

SIZE = 8_000
SLOW_STEP = 6
TRIES = 30

STUDENT = """
import collections, os, subprocess, sys, threading, time
import numpy as np

def honest(x):
    return work(x, 16)

def as_slow(x):
    return work(x, 120)

def wrong(x):
    return x.copy()

def single(x):
    return work(x, 1).astype(np.float32)

def nothing(x):
    return None

def last_wrong(x):
    last_wrong.calls = getattr(last_wrong, "calls", 0) + 1
    return work(x, 20) + (last_wrong.calls > 8)

class Lazy(np.ndarray):
    pass

class Promise:
    def __init__(self, x):
        self.x, self.shape, self.dtype = x, x.shape, x.dtype
    def __array__(self, *args, **kwargs):
        return work(self.x, 12)

def lazy(x):
    return Promise(x)

def lazy_subclass(x):
    return work(x, 40).view(Lazy)

def shifts(y, x):
    y += work(x, 20)

def shifts_wrong(y, x):
    y += 1

def spoils_input(x):
    result = work(x, 40)
    x[:] = 0
    return result

_by_id, _by_content = {}, {}

def memo_by_id(x):
    if id(x) not in _by_id:
        _by_id[id(x)] = work(x, 120)
    return _by_id[id(x)]

def memo_by_content(x):
    key = x.tobytes()
    if key not in _by_content:
        _by_content[key] = work(x, 120)
    return _by_content[key]

# A thread looks at the memory that inputs come to, and computes before the clock starts.
_places, _ready, sweeps = {}, {}, 0

def _look():
    global sweeps
    while True:
        for x in list(_places.values()):
            key = float(x[0]), float(x[-1])
            if key not in _ready:
                _ready[key] = work(x.copy(), 120)
        sweeps += 1
        time.sleep(0.0003)

def ahead(x):
    if not _places:
        threading.Thread(target=_look, daemon=True).start()
    _places[x.__array_interface__["data"][0]] = x
    found = _ready.get((float(x[0]), float(x[-1])))
    return work(x, 120) if found is None else found

# Threads that go on after the call, to be paid by somebody else.
def in_threads(x):
    out = np.zeros_like(x)
    def part():
        out[:] = work(x, 120)
    thread = threading.Thread(target=part)
    thread.start()
    thread.join()
    return out

def in_a_process(x):
    code = "import sys, numpy as np; x = np.frombuffer(sys.stdin.buffer.read());"
    code += "sys.stdout.buffer.write(np.exp(-x).tobytes())"
    done = subprocess.run([sys.executable, "-c", code], input=x.tobytes(), capture_output=True)
    return np.frombuffer(done.stdout).copy()

def by_fork(x):
    read, write = os.pipe()
    if os.fork() == 0:
        work(x, 120)
        os._exit(0)
    return work(x, 1)

def patches_clocks(x):
    for name in ("thread_time", "process_time", "perf_counter", "monotonic", "time"):
        setattr(time, name, lambda: 0.0)
    import tito.grading.child.timed as timed
    timed._clock = lambda: 0.0
    return work(x, 120)

def dies(x):
    dies.calls = getattr(dies, "calls", 0) + 1
    if dies.calls > 3:
        os._exit(0)
    return work(x, 20)
"""


class Bench:
    """A student's process and its twin, as in the judge."""

    def __init__(self, world: World, twin: Twin, given: dict) -> None:
        self.world, self.twin, self.given = world, twin, given

    def speed(self, name, *, own=False, base="baseline", inputs=None, **options):
        """What `speed` says of a function of the student's."""
        runtime = JudgeRuntime(self.world, b"", self.baseline, own=own)
        options = {"points": 2, "full": 2, **options}
        self.world.test_begins(name)
        try:
            func = self.world.bind([name])[name]
            with use(runtime):
                return speed(func, self.given[base], inputs or draw, **options)
        finally:
            self.ended = self.world.test_ends()

    def baseline(self, func):
        return self.twin.baseline(func, self.given, 0)


def draw(rng):
    return (rng.standard_normal(SIZE),)


@contextlib.contextmanager
def bench(engine):
    given: dict = {}
    exec(GIVEN, given)
    with contextlib.ExitStack() as stack:

        def world(contracts=None):
            stage = stack.enter_context(make_stage())
            made = World(engine, stage, Limits(), contracts)
            stack.callback(made.close)
            return made

        own = world()
        own.run_cell("given", GIVEN, role="given")
        assert own.run_cell("student", STUDENT).status == "ok"
        twin = Twin([Step("given", "given", GIVEN, 0, in_g=True)], world)
        yield Bench(own, twin, given)


@pytest.fixture(scope="module")
def shared(engine):
    with bench(engine) as one:
        yield one


@pytest.fixture
def fresh(engine):
    with bench(engine) as one:
        yield one


# -- honest kernels


def test_a_fast_kernel_earns_the_full_step(shared):
    found = shared.speed("honest")
    assert (found.earned, found.doubt) == (2, False)
    assert found.measured.median > 2
    assert "times as fast as baseline" in found.message


def test_one_between_the_steps_earns_half(shared):
    def draw_more(rng):
        return (rng.standard_normal(4 * SIZE),)

    found = shared.speed("honest", inputs=draw_more, full=25, half=2)
    assert (found.earned, found.doubt) == (1, False)


def test_a_slow_kernel_earns_nothing(shared):
    found = shared.speed("as_slow", full=SLOW_STEP, hint="fewer passes")
    assert (found.earned, found.doubt) == (0, False)
    assert "fewer passes" in found.message and f"from {SLOW_STEP} times" in found.message


def test_a_result_may_be_an_argument_that_is_changed(fresh):
    def both(rng):
        return rng.standard_normal(SIZE), rng.standard_normal(SIZE)

    fresh.world._contracts = {"shifts": _writing("y"), "shifts_wrong": _writing("y")}
    options = {"base": "shift_baseline", "inputs": both, "writes": 0}
    assert fresh.speed("shifts", **options).earned == 2
    with pytest.raises(CheckFailed, match="in a speed check: wrong"):
        fresh.speed("shifts_wrong", **options)


def _writing(name):
    from tito.grading.judge.contracts import Contract

    return Contract(("y", "x"), frozenset([name]))


# -- wrong values, however fast


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong", f"wrong in all {SIZE} elements"),
        ("single", "its dtype is float32, expected float64"),
        ("nothing", "returned None, expected an array"),
        ("lazy", "returned a Promise, expected an array"),
        ("spoils_input", "changed its input"),
    ],
)
def test_a_fast_wrong_answer_fails(shared, name, words):
    with pytest.raises((CheckFailed, AssertionError), match=words):
        shared.speed(name)


def test_every_result_of_every_round_is_looked_at(fresh):
    with pytest.raises(CheckFailed, match="in a speed check: wrong in all"):
        fresh.speed("last_wrong")


def test_a_result_that_becomes_lazy_once_the_clock_runs_fails(fresh):
    fresh.world.run_cell("later", LATER)
    with pytest.raises(CheckFailed, match="returned a Promise, expected an array"):
        fresh.speed("lazy_later")


LATER = """
def lazy_later(x):
    lazy_later.calls = getattr(lazy_later, "calls", 0) + 1
    return work(x, 40) if lazy_later.calls < 3 else Promise(x)
"""


def test_a_process_that_dies_while_it_is_measured_earns_nothing(fresh):
    with pytest.raises(StudentDied):
        fresh.speed("dies")
    assert fresh.ended.status == "died"
    assert fresh.speed("honest").earned == 2, "a fresh process is measured like the first"


# -- ways round the clock

CHEATS = ("memo_by_content", "ahead", "in_threads", "patches_clocks")


@pytest.mark.parametrize("name", CHEATS)
def test_work_that_is_hidden_from_the_clock_is_paid_all_the_same(fresh, name):
    found = fresh.speed(name, full=SLOW_STEP)
    assert found.earned == 0 and found.measured.median < SLOW_STEP, found.message


def test_a_memo_by_identity_gives_old_answers_to_new_questions(fresh):
    with contextlib.suppress(CheckFailed):
        assert fresh.speed("memo_by_id", full=SLOW_STEP).earned == 0


@pytest.mark.parametrize("name", ["in_a_process", "by_fork"])
def test_no_other_process_can_do_the_work(fresh, name):
    with pytest.raises((PermissionError, BlockingIOError, OSError)):
        fresh.speed(name)


def test_the_work_ahead_is_seen_by_a_naive_clock(fresh, monkeypatch):
    """The attack is real: a clock that starts with the request, on a process that is never
    stopped, is fooled by it, if not by every try on a busy machine."""
    monkeypatch.setattr(cpus, "_hold", lambda session: None)
    monkeypatch.setattr(cpus, "turn", lambda session: _naive_turn(fresh.world, session))
    assert any(fresh.speed("ahead").earned == 2 for _ in range(10))


@contextlib.contextmanager
def _naive_turn(world, session):
    """The inputs lie there, and the judge has something else to do until all is computed."""

    def sweeps():
        return world.bind(["sweeps"]).get("sweeps", 0)

    before = sweeps()
    while before and sweeps() < before + 2:
        time.sleep(0.005)
    session.charged = session.channel.cpu_seconds()
    yield


def test_a_process_out_of_turn_stands_still(fresh):
    spin = "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"
    fresh.world.run_cell("spin", spin)
    channel = fresh.world._session.channel

    def used(seconds):
        before = sum(channel.thread_seconds().values())
        time.sleep(seconds)
        return sum(channel.thread_seconds().values()) - before

    def stands_still():
        """A thread that waits for a CPU meets the signal when it gets one: at its own time."""
        with fresh.world.held():
            time.sleep(0.02)
            return used(0.2) < 0.001

    assert len(channel.thread_seconds()) > 1
    assert any(stands_still() for _ in range(TRIES))
    end = time.monotonic() + 60
    while used(0.2) < 0.005:
        assert time.monotonic() < end, "and it goes on afterwards"


# -- the author's mistakes


def test_inputs_that_come_twice_are_refused(shared):
    with pytest.raises(ValueError, match="the same arrays again"):
        shared.speed("honest", inputs=lambda rng: (np.ones(SIZE),))


def test_inputs_too_small_to_measure_are_named_and_cost_nothing(shared):
    found = shared.speed("honest", base="tiny", inputs=lambda rng: (rng.standard_normal(40),))
    assert (found.earned, found.doubt) == (2, True)
    assert "larger inputs" in found.message


def test_a_baseline_of_the_test_cell_is_refused(shared):
    with pytest.raises(ValueError, match="a function of the test cell"):
        shared.twin.baseline(lambda x: x, shared.given, 0)


def test_a_kernel_that_is_not_the_students_is_refused(shared):
    runtime = JudgeRuntime(shared.world, b"", shared.baseline)
    with use(runtime), pytest.raises(TypeError, match="put a wrapper into the solution cell"):
        speed(draw, shared.given["baseline"], draw, points=1, full=2)


# -- other machines


def test_an_instruction_set_without_a_threshold_is_graded_by_values(shared):
    found = shared.speed("as_slow", full=_all_but_ours())
    assert (found.earned, found.doubt, found.measured) == (2, False, None)
    assert "no threshold was measured" in found.message
    with pytest.raises(CheckFailed):
        shared.speed("wrong", full=_all_but_ours())


def _all_but_ours():
    from tito.machine import INSTRUCTION_SETS, instruction_set

    return {name: 2 for name in INSTRUCTION_SETS if name != instruction_set()}


def test_where_no_clock_can_be_read_ones_own_reading_serves_oneself_alone(fresh, monkeypatch):
    monkeypatch.setattr(World, "is_measured_outside", False)
    found = fresh.speed("honest", own=True)
    assert found.earned == 2 and "own reading" in found.message
    assert fresh.speed("as_slow", own=True, full=SLOW_STEP).earned == 0
    found = fresh.speed("as_slow", own=False, full=SLOW_STEP)
    assert (found.earned, found.doubt) == (2, True), "values alone, and it says so"
    with pytest.raises(CheckFailed):
        fresh.speed("wrong", own=False)


# -- a busy machine


@contextlib.contextmanager
def burners(n=2):
    """So many processes that use a CPU each."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


# It is the system that lets processes wait.
@pytest.mark.newest
def test_a_busy_machine_changes_no_points(shared):
    with burners():
        fast = [shared.speed("honest") for _ in range(3)]
        slow = [shared.speed("as_slow", full=SLOW_STEP) for _ in range(3)]
    assert [found.earned for found in fast] == [2] * 3
    assert [found.earned for found in slow] == [0] * 3


def test_without_seccomp_foreign_work_is_graded_by_values(fresh):
    fresh.world.layers.remove("seccomp")
    found = fresh.speed("as_slow", full=SLOW_STEP)
    assert (found.earned, found.doubt) == (2, True)
    assert fresh.speed("as_slow", own=True, full=SLOW_STEP).earned == 0


# -- processes that are slow all their life


@pytest.fixture(params=["read from outside", "own reading"])
def clock(request, monkeypatch):
    """Both clocks: one's own reading is of the same processes."""
    if request.param == "own reading":
        monkeypatch.setattr(World, "is_measured_outside", False)


def test_a_kernel_in_a_slow_process_gets_another(fresh, monkeypatch, clock):
    """The first process is made slow, as a machine does at times."""
    fresh.world.run_cell("first", "def kernel(x):\n    return work(x, 120)")
    renew = World.renew

    def fast_when_renewed(world):
        done = renew(world)
        world.run_cell("second", "def kernel(x):\n    return work(x, 4)")
        return done

    monkeypatch.setattr(World, "renew", fast_when_renewed)
    found = fresh.speed("kernel", own=True, full=SLOW_STEP)
    assert (found.earned, found.doubt) == (2, False)


def test_a_slow_kernel_is_slow_in_both(fresh, clock):
    before = fresh.world._session.channel.pid
    assert fresh.speed("as_slow", own=True, full=SLOW_STEP).earned == 0
    assert fresh.world._session.channel.pid != before, "it was measured twice"


def test_a_slow_twin_is_not_the_baseline(engine, clock):
    """Made four times as slow it could bring a slow kernel over the step, and does not."""
    slow = GIVEN.replace("work(x, 120)", "work(x, 480)")

    def other_is_asked():
        with bench(engine) as one:
            first, second = one.twin._twins
            first._given = [Step("given", "given", slow, 0, in_g=True)]
            found = one.speed("as_slow", own=True, full=3)
            return found.earned == 0 and second._world is not None

    assert any(other_is_asked() for _ in range(TRIES))


def test_who_is_far_beyond_the_step_needs_no_second_twin(engine, clock):
    def none_is_asked():
        with bench(engine) as one:
            earned = one.speed("honest", own=True, full=1.05).earned
            return earned == 2 and one.twin._twins[1]._world is None

    assert any(none_is_asked() for _ in range(TRIES))


def test_the_arguments_may_be_prepared_by_the_student(fresh):
    assert fresh.world.run_cell("packed", PACKED).status == "ok"
    fresh.world.test_begins("bind")
    pack = fresh.world.bind(["pack"])["pack"]
    assert fresh.speed("packed", prepare=lambda x: (pack(x),)).earned == 2
    with pytest.raises(TypeError, match="as a tuple"):
        fresh.speed("packed", prepare=lambda x: pack(x))


PACKED = """
class Packed:
    def __init__(self, x):
        self.negative = -x

def pack(x):
    return Packed(x)

def packed(p):
    for _ in range(20):
        y = np.exp(p.negative)
    return y
"""

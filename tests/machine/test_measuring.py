"""Rungs in turn: what may be timed, what has no time, and which numbers come out."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tito.machine import Rung, measure, measuring, timer
from tito.machine.rung import arrays_in

# Some are of the real clock.
pytestmark = pytest.mark.clock


class Machine:
    """A simulated machine and its clock: work costs what it says, at the present slowness."""

    def __init__(self):
        self.now = 0.0
        self.slowness = 1.0
        self.log = []

    def clock(self):
        return self.now

    def rung(self, name, seconds, **more):
        def work(*args, **kwargs):
            self.log.append(name)
            self.now += seconds * self.slowness
            return seconds

        return Rung(name, work, **more)


@pytest.fixture
def machine():
    return Machine()


def run(machine, rungs, **more):
    return measure(rungs, clock=machine.clock, **more)


def one(rung, **more):
    return measure([rung], rounds=2, **more)[0]


def ones(*shape):
    return np.ones(shape, np.float32)


# What is measured


def test_a_long_call_is_one_window(machine):
    [found] = run(machine, [machine.rung("slow", 0.5)], rounds=4)
    assert found.calls == 1
    assert found.samples == pytest.approx([0.5] * 4)
    assert found.seconds == pytest.approx(0.5) and found.spread == pytest.approx(0)
    # The first call, one to find how many fill a window, and four windows.
    assert len(machine.log) == 6


def test_a_short_call_is_repeated_until_the_window_is_long_enough(machine):
    [found] = run(machine, [machine.rung("short", 1e-6)], window=0.003)
    assert found.seconds == pytest.approx(1e-6)
    assert found.calls * 1e-6 >= 0.003


def test_what_is_too_short_for_the_clock_still_has_a_time(machine):
    [found, base] = run(
        machine, [machine.rung("nothing", 0.0), machine.rung("base", 1.0)], baseline="base"
    )
    assert found.calls == timer.MOST_CALLS
    assert 0 < found.seconds < 1e-9
    assert 0 < found.ratio < float("inf") and base.ratio == 1


def test_a_real_call_of_nothing_has_a_real_time():
    found = one(Rung("pass", lambda: None))
    assert found.calls > 1000
    assert 1e-9 < found.seconds < 1e-5


def test_the_first_call_is_apart(machine):
    costs = iter([30.0])

    def compiles_first():
        machine.now += next(costs, 0.25)

    [found] = run(machine, [Rung("jitted", compiles_first)])
    assert found.first_call == pytest.approx(30.0)
    assert found.samples == pytest.approx([0.25] * measuring.ROUNDS)


def test_a_first_call_that_waits_is_told_too():
    waits = iter([0.02])

    def loads():
        time.sleep(next(waits, 0))

    found = one(Rung("loads", loads))
    assert found.first_call >= 0.02 and found.seconds < 0.001


def test_a_new_dtype_compiles_again():
    """Each rung's first call is its own, also of one function."""
    seen = set()

    def specialised(x):
        if x.dtype not in seen:
            seen.add(x.dtype)
            time.sleep(0.01)
        return x + 0

    single, double = measure(
        [Rung("f4", specialised, (ones(3),)), Rung("f8", specialised, (np.ones(3),))], rounds=1
    )
    assert min(single.first_call, double.first_call) >= 0.01


def test_percentiles_are_of_the_windows(machine):
    costs = iter([1.0, 1.0, *range(1, 102)])

    def call():
        machine.now += next(costs)

    [found] = run(machine, [Rung("a", call)], rounds=101)
    points = (10, 50, 90, 95, 99)
    assert [found.percentile(p) for p in points] == pytest.approx([11, 51, 91, 96, 100])
    assert found.spread == pytest.approx(80 / 51)


def test_ratios_are_right_on_a_machine_that_becomes_slower_half_way(machine):
    def slower(later):
        def call():
            machine.slowness = 3.0 if machine.now > 12 else 1.0
            return later.func()

        return Rung(later.name, call)

    rungs = [slower(machine.rung("two", 2.0)), slower(machine.rung("one", 1.0))]
    two, one = run(machine, rungs, baseline="two", rounds=9)
    assert one.ratio == pytest.approx(2.0)
    low, high = one.band
    assert low <= 2.0 <= high
    assert two.ratios == pytest.approx([1.0] * 9)
    assert max(one.samples) == pytest.approx(3 * min(one.samples))  # it did become slower


def test_the_order_turns_from_round_to_round(machine):
    run(machine, [machine.rung("a", 1.0), machine.rung("b", 1.0)], rounds=3)
    assert "".join(machine.log[-6:]) == "abbaab"


def test_arguments_reach_the_function():
    seen = []
    found = one(Rung("f", lambda *a, **k: seen.append((a, k)), (1, "two"), {"scale": 3}))
    assert found.left_out is None and seen[0] == ((1, "two"), {"scale": 3})


def test_patience_ends_the_rounds_but_three_are_run(machine):
    calls = [machine.rung("a", 1.0), machine.rung("b", 1.0)]
    a, b = run(machine, calls, rounds=1000, patience=0.0, baseline="a")
    assert len(a.samples) == len(b.samples) == measuring.FEWEST_ROUNDS


def test_without_a_baseline_there_are_no_ratios(machine):
    [found] = run(machine, [machine.rung("a", 1.0)])
    assert found.ratio is None and found.band is None and found.ratios == ()


def test_the_footprint_counts_each_array_once():
    x = ones(100)
    assert one(Rung("add", np.add, (x, x))).footprint == 800
    assert one(Rung("add", np.add, (x, x), {"out": ones(100)})).footprint == 800
    assert one(Rung("sum", lambda values: 1.0, ([x, 2 * x],))).footprint == 800


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"baseline": "c"}, "no rung is called 'c': a, b"),
        ({"rounds": 0}, "at least 1 round"),
        ({"threads": 0}, "and 1 thread"),
    ],
)
def test_what_cannot_be_measured_is_refused(more, words):
    with pytest.raises(ValueError, match=words):
        measure([Rung("a", int), Rung("b", int)], **more)


def test_names_tell_rungs_apart():
    with pytest.raises(ValueError, match="same name: a, a"):
        measure([Rung("a", int), Rung("a", int)])


def test_nothing_to_measure_is_no_error():
    assert measure([]) == []


# The clock


def test_one_thread_is_timed_by_its_own_cpu_time():
    sleeps = one(Rung("sleeps", time.sleep, (0.002,)), window=1e-4)
    assert sleeps.seconds < 0.002


def test_several_threads_are_timed_by_the_clock_on_the_wall():
    assert one(Rung("sleeps", time.sleep, (0.005,)), threads=2).seconds >= 0.005


def test_work_of_other_threads_is_noticed():
    numbers = np.ones(4_000_000, np.float32)

    def on_another_thread():
        helper = threading.Thread(target=np.sort, args=(numbers,))
        helper.start()
        helper.join()

    found = one(Rung("threaded", on_another_thread), window=1e-5)
    assert found.elsewhere > 1
    assert one(Rung("own", np.sort, (numbers,))).elsewhere < 0.2


@pytest.fixture
def busy_cpu():
    """This process shares one CPU with another one that never rests."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("processes cannot be bound to a CPU here")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield
    burner.kill()
    burner.wait()
    os.sched_setaffinity(0, before)


def test_a_busy_machine_does_not_move_the_ratio(busy_cpu):
    """Half of the rows are half of the work; by the clock on the wall it reads like dice."""
    x = np.random.default_rng(1).random((256, 256), np.float32)
    whole, half = measure(
        [Rung("whole", np.matmul, (x, x)), Rung("half", np.matmul, (x[:128], x))],
        baseline="whole",
        rounds=15,
    )
    assert 1.7 < half.ratio < 2.3
    low, high = half.band
    assert low < half.ratio < high and high / low < 1.5


# What has no time


def raises(error, cause=None):
    def call(*args):
        raise error from cause

    return call


@pytest.mark.parametrize(
    ("func", "why"),
    [
        (raises(NotImplementedError("softmax is exercise 3")), "not written yet"),
        # As Numba hands on what a thread of it raised.
        (raises(SystemError("<kernel> returned a"), NotImplementedError()), "not written yet"),
        (raises(ZeroDivisionError("division by zero")), "failed: ZeroDivisionError: division by "),
        (raises(KeyError()), "failed: KeyError"),
        (raises(SystemExit(3)), "failed: SystemExit: 3"),
        (raises(ValueError("one\ntwo")), "failed: ValueError: one"),
        (lambda x: (v for v in x), "returns a generator"),
        (lambda x: map(float, x), "returns a map"),
        (lambda x: lambda: x, "returns a function"),
        (lambda x: x + 1, "its result is wrong"),
        (lambda x: None, "its result cannot be checked: TypeError"),
    ],
)
def test_a_call_that_goes_wrong_is_left_out_and_the_others_are_timed(func, why):
    x = ones(10)

    def check(result):
        assert float(result[0]) == 1.0

    bad, good = measure([Rung("bad", func, (x,), check=check), Rung("good", np.copy, (x,))])
    assert bad.left_out.startswith(why)
    assert bad.samples == () and bad.seconds is None and bad.spread is None
    assert good.left_out is None and len(good.samples) == measuring.ROUNDS


def test_a_coroutine_is_not_the_work():
    async def later(x):
        return x

    with pytest.warns(RuntimeWarning, match="never awaited"):
        assert one(Rung("later", later, (1,))).left_out.startswith("returns a coroutine")


def counting(good_calls, then):
    """A function that does well for so many calls, and `then` something else."""
    calls = []

    def call(x):
        calls.append(1)
        return x + 0 if len(calls) <= good_calls else then(x)

    return call


@pytest.mark.parametrize("good_calls", [1, 40])
@pytest.mark.parametrize(
    ("then", "why"),
    [
        # As Numba hands on what a thread of it raised.
        (raises(SystemError("<kernel> returned a"), NotImplementedError()), "not written yet"),
        (raises(ZeroDivisionError("division by zero")), "failed: ZeroDivisionError"),
        (lambda x: iter(x), "returns a"),
        (lambda x: x.fill(7), "changed its input"),
        (lambda x: x * 2, "its result is wrong"),
    ],
)
def test_a_call_that_goes_wrong_half_way_has_no_time(good_calls, then, why):
    x = ones(1000)

    def check(result):
        np.testing.assert_array_equal(result, 1)

    found, other = measure(
        [Rung("a", counting(good_calls, then), (x,), check=check), Rung("b", np.copy, (x,))],
        baseline="a",
    )
    assert found.left_out.startswith(why)
    assert found.samples == () and found.first_call is None
    assert other.left_out is None and other.ratio is None
    assert (x == 1).all(), "the other one was timed on changed data"


def test_a_long_message_is_cut():
    found = one(Rung("a", raises(ValueError("x" * 500))))
    assert len(found.left_out) < 80 and found.left_out.endswith("...")


def test_an_interrupt_is_none_of_the_rung_s_failures():
    with pytest.raises(KeyboardInterrupt):
        one(Rung("a", raises(KeyboardInterrupt())))


# Inputs


def test_an_input_that_grows_from_call_to_call_is_found_and_put_back():
    x = ones(50)

    def grows(x):
        x *= 1.01
        return x

    found, other = measure([Rung("grows", grows, (x,)), Rung("copies", np.copy, (x,))])
    assert found.left_out == "changed its input"
    assert other.left_out is None
    assert (x == 1).all()


@pytest.mark.parametrize(
    "argument",
    [
        [1.0, 2.0],
        [[1.0], [2.0]],
        {"a": [1.0], "b": 2.0},
        (ones(3), ones(3)),
        ones(4, 4)[::2, ::2],
        np.asfortranarray(ones(3, 4)),
        np.array([1.0, np.nan]),
        np.array([1 + 2j, complex(np.nan, 1)]),
        np.array(["a", "b"]),
        np.array([True, False]),
        np.longdouble([1, np.nan]),
    ],
)
def test_an_input_that_is_left_alone_is_not_called_changed(argument):
    assert one(Rung("reads", lambda values: None, (argument,))).left_out is None


@pytest.mark.parametrize(
    ("argument", "change"),
    [
        ([1.0, 2.0], lambda a: a.append(3.0)),
        ([1.0, 2.0], lambda a: a.__setitem__(0, 5.0)),
        ({"a": [1.0]}, lambda a: a["a"].clear()),
        ((ones(3), ones(3)), lambda a: a[1].fill(2)),
        (np.array([0.0]), lambda a: a.fill(-0.0)),
        (np.array([np.nan]), lambda a: a.fill(0)),
        (np.array([1j]), lambda a: a.fill(0)),
        (np.array([True]), lambda a: a.fill(False)),
        (ones(4, 4)[::2, ::2], lambda a: a.__setitem__((1, 1), 9)),
    ],
)
def test_any_change_is_found(argument, change):
    assert one(Rung("writes", change, (argument,))).left_out == "changed its input"


def test_a_keyword_is_an_input_too():
    found = one(Rung("f", lambda x=None: x.fill(2), kwargs={"x": ones(3)}))
    assert found.left_out == "changed its input"


def test_out_may_be_written():
    assert one(Rung("f", np.add, (ones(3), 1), {"out": ones(3)})).left_out is None


@pytest.mark.parametrize("writes", [(0,), (0, "scale")])
def test_what_a_rung_writes_and_others_read_is_its_own(writes):
    x = ones(3)

    def in_place(x, scale=None):
        np.negative(x, out=x)

    found, other = measure(
        [Rung("in place", in_place, (x,), writes=writes), Rung("reads", np.copy, (x,))],
        rounds=2,
    )
    assert found.left_out is None and other.left_out is None
    assert (x == 1).all()


def test_what_nobody_else_reads_is_written_where_it_lies():
    source, target = ones(3), np.zeros(3, np.float32)

    def check(result):
        assert (target == 1).all()

    rung = Rung("copy", np.copyto, (target, source), writes=(0,), check=check)
    other = Rung("reads", np.copy, (source,))
    assert [found.left_out for found in measure([rung, other], rounds=1)] == [None, None]


def test_an_array_of_results_may_be_shared():
    """Each is checked after its own windows, before another one writes there."""
    out = ones(3)

    def checks(value):
        def check(result):
            np.testing.assert_array_equal(result, value)

        return check

    rungs = [
        Rung("one", np.add, (ones(3), 1), {"out": out}, check=checks(2)),
        Rung("two", np.add, (ones(3), 2), {"out": out}, check=checks(3)),
    ]
    assert [found.left_out for found in measure(rungs, rounds=2)] == [None, None]


def resident():
    """Bytes of this process that are in memory; the page of zeros does not count."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("writeable", [True, False])
def test_memory_is_touched_before_it_is_timed(writeable):
    """Pages that nobody wrote are all one page of zeros, which never leaves the cache."""
    size = 32 * 2**20
    fresh = np.zeros(size, np.uint8)
    view = fresh[:]
    view.flags.writeable = writeable
    seen = []
    before = resident()
    found = one(Rung("reads", lambda a: seen.append(resident()), (view,)))
    assert found.left_out is None
    # The array itself, and the copy that it is compared with.
    assert seen[0] - before > 1.8 * size
    assert view.flags.writeable is writeable


def test_arrays_are_found_in_containers():
    a, b = ones(1), ones(2)
    assert [x.size for x in arrays_in([a, {"k": (b, 3)}, "text"])] == [1, 2]


def test_the_dtype_is_the_widest_float():
    assert Rung("f", int, (ones(1), np.ones(1))).dtype == np.float64
    assert Rung("f", int, (ones(1), np.ones(1, int))).dtype == np.float32
    assert Rung("f", int, ([1.0],)).dtype is None

"""The timer, against a clock that the test moves."""

import doctest

import pytest

from tito.machine import Timing, compare, time_call, timer


class Machine:
    """A simulated machine: each piece of work costs what it says, at the present speed."""

    def __init__(self):
        self.now = 0.0
        self.slowness = 1.0
        self.calls = 0

    def work(self, seconds):
        def func(*args, **kwargs):
            self.calls += 1
            self.now += seconds * self.slowness
            return (args, kwargs)

        return func


@pytest.fixture
def machine(monkeypatch):
    machine = Machine()
    monkeypatch.setattr(timer, "clock", lambda: machine.now)
    return machine


def test_a_long_call_is_timed_once_a_sample(machine):
    timing = time_call(machine.work(0.5), repeats=5)
    assert timing.median == timing.best == pytest.approx(0.5)
    assert (timing.calls, timing.spread, machine.calls) == (1, pytest.approx(0), 6)


def test_a_short_call_is_repeated_until_a_sample_is_long_enough(machine):
    timing = time_call(machine.work(1e-6), repeats=3)
    assert timing.median == pytest.approx(1e-6)
    assert timing.calls * 1e-6 >= timer.SHORTEST_SAMPLE


def test_the_warm_up_is_not_timed(machine):
    def first_call_compiles():
        machine.now += 100.0 if machine.calls == 0 else 1.0
        machine.calls += 1

    assert time_call(first_call_compiles, repeats=2).median == pytest.approx(1.0)
    machine.calls = 0
    assert time_call(first_call_compiles, repeats=1, warmup=0).median == pytest.approx(100.0)


def test_arguments_reach_the_function_and_its_result_comes_back(machine):
    timing = time_call(machine.work(1.0), 1, 2, repeats=1, scale=3)
    assert timing.result == ((1, 2), {"scale": 3})


def test_one_slow_sample_moves_the_spread_and_not_the_median(machine):
    costs = iter([1.0] * 4 + [50.0] + [1.0] * 9)

    def func():
        machine.now += next(costs)

    timing = time_call(func, repeats=9)
    assert timing.median == pytest.approx(1.0) and timing.spread > 1


def test_a_clock_that_does_not_move_gives_a_small_number(machine):
    timing = time_call(machine.work(0.0), repeats=1)
    assert 0 < timing.median < 1e-9


@pytest.mark.parametrize("repeats", [0, -1])
def test_at_least_one_sample(repeats):
    with pytest.raises(ValueError, match="at least 1"):
        time_call(len, [], repeats=repeats)


def test_an_exception_passes_through():
    with pytest.raises(ZeroDivisionError):
        time_call(lambda: 1 / 0)


def test_the_ratio_is_right_on_a_machine_that_becomes_slower_half_way(machine):
    slow, fast = machine.work(2.0), machine.work(1.0)

    def drifting(func):
        def run():
            machine.slowness = 3.0 if machine.now > 20 else 1.0
            return func()

        return run

    result = compare(rounds=9, slow=drifting(slow), fast=drifting(fast))
    assert result.ratio("fast") == pytest.approx(2.0)
    low, _, high = result.ratios["fast"]
    assert low <= 2.0 <= high
    assert result.ratio("slow") == 1.0
    assert result["slow"].median / result["fast"].median != pytest.approx(0.67, abs=0.1)


def test_each_ratio_belongs_to_one_round(machine):
    def costing(*costs):
        left = iter(costs)

        def run():
            machine.now += next(left)

        return run

    # Warm-up and calibration take the first two costs, the two rounds the others.
    result = compare(rounds=2, a=costing(1, 1, 1, 4), b=costing(1, 1, 4, 1))
    low, median, high = result.ratios["b"]
    assert (low < 1, high > 3) == (True, True)
    assert median == pytest.approx((1 / 4 + 4) / 2)


def test_the_order_turns_around_each_round(machine):
    order = []

    def thunk(name):
        def run():
            order.append(name)
            machine.now += 1.0

        return run

    compare(rounds=3, a=thunk("a"), b=thunk("b"))
    assert "".join(order[-6:]) == "abbaab"


def test_a_warm_sample_does_not_pay_for_its_neighbour(machine):
    last = []

    def thunk(name):
        def run():
            machine.now += 1.0 if last[-1:] == [name] else 3.0
            last.append(name)

        return run

    both = {"a": thunk("a"), "b": thunk("b")}
    assert compare(rounds=3, **both)["b"].median == 3.0
    assert compare(rounds=3, warm=True, **both)["b"].median == 1.0


def test_compare_needs_two():
    with pytest.raises(ValueError, match="two functions"):
        compare(one=lambda: 1)


def test_results_print_well(machine):
    assert str(time_call(machine.work(0.0125), repeats=2)) == (
        "12.5 ms CPU time a call (spread 0%)"
    )
    text = str(compare(rounds=3, slow=machine.work(0.5), quick=machine.work(0.25)))
    assert text == "slow       500 ms\nquick      250 ms  2 times as fast as slow (2 to 2)"
    assert repr(Timing(1.0, 1.0, 0.0, 1)) == "<Timing 1 s CPU time a call (spread 0%)>"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.56e-6, "4.56 us"), (7.89e-8, "78.9 ns")],
)
def test_units(seconds, text):
    assert timer.seconds_text(seconds) == text


@pytest.mark.clock
def test_the_clock_is_the_threads_own_cpu_time():
    import time

    assert timer.clock is time.thread_time
    # Sleeping costs no CPU time.
    assert time_call(time.sleep, 0.01, repeats=2).calls > 1


def test_the_examples_run():
    assert doctest.testmod(timer).failed == 0

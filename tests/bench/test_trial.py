"""One contender before its time counts."""

import re
import threading
import time

import numpy as np
import pytest

from tito.bench import trial
from tito.bench.ladders import WORKLOADS
from tito.bench.trial import Contender, Problem, attempt, smaller

# Of the real clock: it says whether a call is too long.
pytestmark = pytest.mark.clock

RELU = WORKLOADS["relu"]


def right(x):
    return np.maximum(x, 0)


def verdict(function, dims=(40, 30), threads=1, **kwargs):
    return attempt(Contender("kernel", function, None, kwargs), Problem(RELU, dims), threads)


def test_a_right_kernel_may_be_timed():
    found = verdict(right)
    assert found.reason is None and found.first_call > 0


def test_its_keywords_are_passed_on():
    def kernel(x, *, workers):
        assert workers == 3
        return right(x)

    assert verdict(kernel, workers=3).reason is None


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (
            lambda x: right(x) + (x == x[3, 5]) * np.float32(1e-3),
            "wrong result: .*wrong in 1 of",
        ),
        (lambda x: right(x).astype(np.float64), "wrong result: .*float64"),
        (lambda x: right(x)[:, :-1], "wrong result: .*shape"),
        (lambda x: (row for row in right(x)), "wrong result: .*generator"),
        (lambda x: None, "wrong result: .*None"),
        (lambda x: 1 // 0, "raises ZeroDivisionError: "),
        (lambda x: exec("raise ValueError"), "raises ValueError$"),
        (lambda x: exit(3), "raises SystemExit: 3"),
        (lambda x: (_ for _ in ()).throw(NotImplementedError("exercise 3")), "not written yet"),
    ],
)
def test_what_is_wrong_is_left_out_with_a_reason(kernel, words):
    assert re.match(words, verdict(kernel).reason)


def test_a_kernel_that_works_only_on_small_arrays_is_judged_by_the_size_asked_for():
    def kernel(x):
        if x.shape[0] > 20:
            raise ValueError("too large for me")
        return right(x)

    assert verdict(kernel).reason == "raises ValueError: too large for me"


def test_a_kernel_that_fails_only_on_small_arrays_is_timed():
    def kernel(x):
        if x.shape[0] < 20:
            raise ValueError("multiples of 20 only")
        return right(x)

    assert verdict(kernel).reason is None


def test_a_kernel_that_changes_its_input_is_left_out_and_the_next_gets_the_old_one():
    problem = Problem(RELU, (40, 30))
    before = problem.inputs[0].copy()

    def in_place(x):
        result = right(x)
        x[...] = result
        return result

    found = attempt(Contender("in place", in_place), problem, 1)
    assert found.reason == trial.CHANGES_INPUT
    assert np.array_equal(problem.inputs[0], before)
    assert attempt(Contender("next", right), problem, 1).reason is None


def test_inputs_come_back_also_after_an_exception():
    problem = Problem(RELU, (40, 30))
    before = problem.inputs[0].copy()

    def spoils(x):
        x[...] = 0
        raise ValueError("half-way")

    assert attempt(Contender("spoils", spoils), problem, 1).reason.startswith("raises ValueError")
    assert np.array_equal(problem.inputs[0], before)


def test_a_slow_kernel_is_not_called_at_the_size_where_it_would_take_too_long(monkeypatch):
    """Its cost is read where it is small, and grows with the work."""
    monkeypatch.setattr(trial, "LONGEST_CALL", 0.02)
    seen = []

    def loops(x):
        seen.append(x.shape)
        return np.array([[max(v, 0) for v in row] for row in x], np.float32)

    found = verdict(loops, dims=(2000, 2000))
    assert found.reason.startswith("would take ") and "limit is 0.02 s" in found.reason
    assert max(seen) < (2000, 2000)
    size = "x".join(map(str, seen[-1]))
    assert size in found.reason


def test_a_call_that_still_takes_too_long_at_its_size_is_left_out(monkeypatch):
    monkeypatch.setattr(trial, "LONGEST_CALL", 0.01)

    def kernel(x):
        until = time.process_time() + 0.03
        while x.size > 1000 and time.process_time() < until:
            pass
        return right(x)

    assert verdict(kernel).reason.startswith("takes 0.03")


def test_compiling_in_the_first_call_is_no_reason_to_leave_a_kernel_out(monkeypatch):
    monkeypatch.setattr(trial, "LONGEST_CALL", 0.01)
    compiled = []

    def jitted(x):
        until = time.process_time() + 0.05
        while not compiled and time.process_time() < until:
            pass
        compiled.append(1)
        return right(x)

    for dims in ((40, 30), (4, 4)):  # with and without a smaller size to begin with
        compiled.clear()
        found = verdict(jitted, dims)
        assert found.reason is None and found.first_call >= 0.05


def threaded(x):
    result = np.empty_like(x)

    def work():
        for _ in range(50):
            np.maximum(x, 0, out=result)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    return result


def test_work_in_other_threads_is_not_timed_by_the_clock_of_one():
    found = verdict(threaded, dims=(400, 300))
    assert found.reason == (
        "computes in threads of its own, which one thread's clock does not see: --threads 2"
    )


def test_work_in_other_threads_may_be_timed_by_the_wall_clock():
    assert verdict(threaded, dims=(400, 300), threads=2).reason is None


def test_a_kernel_that_only_waits_does_not_stop_the_trial():
    begin = time.perf_counter()
    assert verdict(lambda x: time.sleep(0.05) or right(x), dims=(8, 8)).reason is None
    assert time.perf_counter() - begin < 60


def test_small_sizes_grow_and_keep_what_is_already_short():
    assert list(smaller((1, 576, 20))) == [
        (1, n, min(n, 20)) for n in (8, 16, 32, 64, 128, 256, 512)
    ]
    assert list(smaller((8, 8))) == []

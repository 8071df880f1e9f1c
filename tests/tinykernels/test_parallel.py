"""The kernels on threads: contracts by name, any number of workers, no update lost, no hang."""

import doctest
import inspect
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinykernels import parallel

ROOT = Path(__file__).parents[2]
CORES = parallel.usable_cores()
A, B = np.arange(21.0).reshape(7, 3), np.arange(6.0).reshape(3, 2) - 2
X = np.arange(-17.0, 18.0).reshape(7, 5)
LABELS = np.arange(41) % 3


def relu(num_workers, x=X, **kwargs):
    return parallel.parallel_relu(x, num_workers, min_size=0, **kwargs)


# Every kernel as a function of the number of workers, and what it gives.
KERNELS = {
    "parallel_relu": (relu, np.maximum(X, 0)),
    "parallel_matmul": (lambda w: parallel.parallel_matmul(A, B, w), A @ B),
    "parallel_histogram": (
        lambda w: parallel.parallel_histogram(LABELS, 4, w),
        np.array([14, 14, 13, 0]),
    ),
    "parallel_batch_processing": (
        lambda w: np.array(parallel.parallel_batch_processing(X, np.sum, w)),
        X.sum(axis=1),
    ),
    "run_threads": (lambda w: np.array(parallel.run_threads(float, range(9), w)), np.arange(9.0)),
}
EACH = pytest.mark.parametrize(("kernel", "want"), KERNELS.values(), ids=KERNELS)


def test_the_examples_of_the_docstrings_are_right():
    assert doctest.testmod(parallel).failed == 0
    assert doctest.testmod(parallel).attempted >= 9


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("split", "(n, parts)"),
        ("worker_count", "(num_workers, tasks)"),
        ("run_threads", "(func, items, num_workers=None)"),
        ("parallel_relu", "(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768)"),
        ("parallel_batch_processing", "(batch_data, operation, num_workers=4)"),
        ("parallel_matmul", "(a, b, num_workers=4, out=None, kernel=matmul)"),
        ("parallel_histogram", "(x, bins, num_workers=4, kernel=count_into)"),
        ("amdahl", "(parallel_fraction, workers)"),
        ("serial_fraction", "(speedup, workers)"),
    ],
)
def test_a_public_name_and_its_signature(name, signature):
    function = getattr(parallel, name)
    found = inspect.signature(function)
    plain = found.replace(
        parameters=[
            p.replace(default=Shown(p.default)) if callable(p.default) and p.default is not p.empty
            else p
            for p in found.parameters.values()
        ]
    )  # fmt: skip
    assert str(plain) == signature
    assert name in parallel.__all__
    assert function.__doc__


class Shown:
    """A default that shows as its name, without the address."""

    def __init__(self, function):
        self.name = function.__name__

    def __repr__(self):
        return self.name


@given(st.integers(0, 300), st.integers(1, 400))
def test_bands_cover_the_range_and_are_fair(n, parts):
    bands = parallel.split(n, parts)
    assert [i for band in bands for i in range(n)[band]] == list(range(n))
    sizes = [band.stop - band.start for band in bands]
    assert len(sizes) == min(n, parts)
    assert not sizes or max(sizes) - min(sizes) <= 1


@EACH
@pytest.mark.parametrize("num_workers", [1, 2, 3, 7, 8, 64, 1000, 2**40, None, np.int64(2)])
def test_the_number_of_workers_does_not_change_a_result(kernel, want, num_workers):
    got = kernel(num_workers)
    assert got.dtype == want.dtype
    assert np.array_equal(got, want)


@EACH
@pytest.mark.parametrize("num_workers", [0, -1, -8, 1.5, 2.0, "2", True, float("nan"), [2]])
def test_a_bad_number_of_workers_is_refused(kernel, want, num_workers):
    with pytest.raises((TypeError, ValueError), match="num_workers must be"):
        kernel(num_workers)


@EACH
def test_eight_threads_may_call_at_the_same_time_and_inside_each_other(kernel, want):
    def calls(_):
        with ThreadPoolExecutor(2) as inner:
            return list(inner.map(kernel, (3, 2)))

    with ThreadPoolExecutor(4) as outer:
        results = [r for pair in outer.map(calls, range(4)) for r in pair]
    assert len(results) == 8
    assert all(np.array_equal(result, want) for result in results)


@EACH
def test_no_thread_is_left_over(kernel, want):
    before = threading.active_count()
    kernel(4)
    assert threading.active_count() == before


def test_few_rows_and_none_at_all():
    for rows in (0, 1, 2):
        assert np.array_equal(parallel.parallel_matmul(A[:rows], B, 4), A[:rows] @ B)
        assert np.array_equal(relu(4, X[:rows]), np.maximum(X[:rows], 0))
        assert parallel.parallel_batch_processing(X[:rows], len, 4) == [5] * rows
    assert parallel.parallel_histogram(LABELS[:0], 2, 4).tolist() == [0, 0]


def test_no_more_threads_than_four_for_each_core():
    assert parallel.worker_count(2**40, 10**9) == 4 * CORES
    assert parallel.worker_count(None, 10**9) == CORES
    arrived, at_once = Counter(), []

    def note(_):
        arrived[threading.get_ident()] += 1
        at_once.append(threading.active_count())
        time.sleep(0.002)

    before = threading.active_count()
    parallel.run_threads(note, range(40 * CORES), 2**40)
    assert max(at_once) - before <= 4 * CORES
    assert len(arrived) > 1


def test_items_are_worked_on_at_the_same_time_and_results_keep_their_order():
    barrier = threading.Barrier(3)

    def together(item):
        barrier.wait(60)
        return -item

    assert parallel.run_threads(together, range(9), 3) == [-i for i in range(9)]


def test_the_exception_of_the_first_item_in_order_arrives_once_all_have_stopped():
    both, ended = threading.Barrier(2), []

    def job(item):
        both.wait(60)
        if item == 1:
            raise IndexError("row 1")
        time.sleep(0.05)
        ended.append(item)
        raise KeyError("row 0")

    with pytest.raises(KeyError, match="row 0"):
        parallel.run_threads(job, [0, 1], 2)
    assert ended == [0]


def test_what_a_worker_raises_reaches_the_caller_of_every_kernel():
    def broken(*_, **__):
        raise OverflowError("a kernel that fails")

    for call in (
        lambda: relu(3, kernel=broken),
        lambda: parallel.parallel_matmul(A, B, 3, kernel=broken),
        lambda: parallel.parallel_histogram(LABELS, 3, 3, kernel=broken),
        lambda: parallel.parallel_batch_processing(X, broken, 3),
    ):
        with pytest.raises(OverflowError, match="a kernel that fails"):
            call()


def test_small_arrays_need_no_thread():
    seen = []

    def note(part, out):
        seen.append((threading.current_thread(), part.size))
        out[...] = part

    parallel.parallel_relu(np.ones(32767), kernel=note)
    assert seen == [(threading.current_thread(), 32767)]
    parallel.parallel_relu(np.ones(32768), 4, kernel=note)
    assert sorted(size for _, size in seen[1:]) == [8192] * min(4, 4 * CORES)
    assert threading.current_thread() not in [thread for thread, _ in seen[1:]]


def test_two_rows_are_shared_by_four_workers_where_they_lie_flat():
    for x, sizes in (
        (np.ones((2, 24)), [12] * 4),
        (np.ones((2, 24), order="F"), [24] * 2),
        (np.ones((2, 48))[:, ::2], [24] * 2),
    ):
        found = []
        relu(4, x, kernel=lambda part, out, found=found: found.append(out.size))
        assert found == sizes


@pytest.mark.parametrize("order", "CF")
def test_out_is_filled_and_returned_in_any_order(order):
    for call, want in (
        (lambda out: relu(3, out=out), np.maximum(X, 0)),
        (lambda out: parallel.parallel_matmul(A, B, 3, out=out), A @ B),
    ):
        out = np.full(want.shape, 7.0, order=order)
        assert call(out) is out
        assert np.array_equal(out, want)
        wide = np.full((2 * want.shape[0], 3 * want.shape[1]), 7.0)
        assert np.array_equal(call(wide[::-2, ::3]), want)
        assert np.count_nonzero(wide[::2] == 7.0) == wide[::2].size


@pytest.mark.parametrize("n", [20_011, 200_003])
@pytest.mark.parametrize("num_workers", [1, 2, 4, 16])
def test_no_count_is_lost_on_any_size(n, num_workers):
    """Primes, which nothing divides; a race may hide at one size."""
    one_bin = parallel.parallel_histogram(np.zeros(n, np.int64), 4, num_workers)
    assert one_bin.tolist() == [n, 0, 0, 0]
    two_bins = parallel.parallel_histogram(np.arange(n) % 2, 2, num_workers)
    assert two_bins.tolist() == [(n + 1) // 2, n // 2]


def test_counts_are_private_where_reads_and_writes_of_workers_alternate():
    barrier = threading.Barrier(2)

    def careful(part, counts):
        for value in part:
            before = counts[value]
            barrier.wait(60)
            counts[value] = before + 1

    for _ in range(3):
        got = parallel.parallel_histogram(np.ones(60, np.int32), 2, 2, careful)
        assert got.tolist() == [0, 60]


@pytest.mark.parametrize(
    ("labels", "bins", "error"),
    [([0, 4], 4, ValueError), ([-1], 4, ValueError), ([[0]], 1, ValueError), ([0], 0, ValueError),
     ([0.0], 1, TypeError), ([True], 2, TypeError), ([0], 1.0, TypeError)],
)  # fmt: skip
def test_labels_that_are_none_are_refused(labels, bins, error):
    with pytest.raises(error):
        parallel.parallel_histogram(np.array(labels), bins)
    with pytest.raises(TypeError, match="array of integers"):
        parallel.parallel_histogram([0, 1], 2)


@given(st.floats(0, 1), st.integers(2, 4096))
def test_the_serial_share_is_what_amdahl_left(fraction, workers):
    speedup = parallel.amdahl(fraction, workers)
    assert 1 <= speedup <= workers * (1 + 1e-12)
    assert abs(parallel.serial_fraction(speedup, workers) - (1 - fraction)) < 1e-9


def test_a_whole_process_of_threads_ends_by_itself():
    program = (
        "import numpy as np\n"
        "from tinykernels import parallel\n"
        "def bad(x): raise KeyError(x)\n"
        "try: parallel.run_threads(bad, range(50), 8)\n"
        "except KeyError: print(parallel.parallel_relu(np.ones(100_000)).sum())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("100000.0\n", "", 0)

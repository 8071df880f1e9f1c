# Built from module 06_threads by tito export; edit the module, not this file.
"""Threads: work that adds up, and when it is not faster."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tinykernels.loops import check_count, check_float_array, check_matmul
from tinykernels.vectorized import check_out, vectorized_relu

__all__ = [
    "amdahl",
    "check_labels",
    "count_into",
    "parallel_batch_processing",
    "parallel_histogram",
    "parallel_matmul",
    "parallel_relu",
    "run_threads",
    "serial_fraction",
    "split",
    "usable_cores",
    "worker_count",
]


# 06_threads: split
def split(n, parts):
    """Cut the range 0..n into neighbouring slices of nearly equal length.

        0..a, a..b, ..., z..n    as slices

    n     : a whole number >= 0
    parts : a whole number >= 1; no more than n are made, however many are asked for
    returns a list of slices, in order: they cover 0..n without a gap or an overlap, their lengths
        differ by 1 at most, and none is empty; n = 0 gives []
    raises TypeError and ValueError as check_count, for both

    >>> split(6, parts=3)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]


# 06_threads: usable_cores
def usable_cores():
    """How many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# 06_threads: run_threads
def worker_count(num_workers, tasks):
    """How many threads to use for so many tasks.

    num_workers : a whole number >= 1, or None: one for each usable core
    tasks       : how many there are, a length: a whole number >= 0, which is not checked; more
                  workers than tasks are no use
    returns num_workers, but at most tasks, at most four for each usable core, and at least 1
    raises TypeError and ValueError as check_count

    >>> worker_count(num_workers=8, tasks=3)
    3
    """
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    """[func(item) for item in items], on several threads at the same time.

    func        : called once for each item; a worker that is free takes the next item. Once a
                  call has failed, items that nobody has begun may be left out; no item twice
    items       : a list, a tuple or anything else with a length and an order
    num_workers : as worker_count takes it; with one worker or one item no thread is started
    returns the results in the order of the items
    raises what func raised for the first item (in their order) that failed; TypeError and
        ValueError as check_count, before any call. When it comes back, no worker is inside func

    >>> run_threads(abs, [-3, 1, -2], num_workers=2)
    [3, 1, 2]
    """
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))


# 06_threads: parallel_relu
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    """ReLU on several threads, each with a band of x and the same band of out.

        kernel(x[band], out=out[band])    for each band of split(..., workers)

    x           : float32 or float64, one axis or more, any stride; not modified
    num_workers : as worker_count takes it, with x.size tasks; checked also below min_size
    out         : an array of x's shape and dtype, or None for a new one
    kernel      : fills its out, and what it returns is not used; called once for each worker, with
                  views of x and out: parts of x.reshape(-1) and out.reshape(-1) where both lie in C
                  order without gaps, else bands of their rows
    min_size    : fewer elements are done by a single call, on the thread that called
    returns out
    raises TypeError and ValueError as check_float_array, check_out and check_count

    >>> parallel_relu(np.array([[-1.5, 0.0], [2.5, -np.inf]]))
    array([[0. , 0. ],
           [2.5, 0. ]])
    """
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1
    flat = x.flags.c_contiguous and out.flags.c_contiguous
    source, target = (x.reshape(-1), out.reshape(-1)) if flat else (x, out)
    bands = split(len(source), workers)
    run_threads(lambda band: kernel(source[band], out=target[band]), bands, workers)
    return out


# 06_threads: parallel_batch_processing
def parallel_batch_processing(batch_data, operation, num_workers=4):
    """operation(item) for each item of a batch, on several threads.

    batch_data  : a list, a tuple or an array, whose items are then its rows; not modified
    operation   : called once for each item; it may return anything
    num_workers : as worker_count takes it
    returns the list of results, in the order of the items; an empty batch gives []
    raises what operation raised, for the first item in order that failed; TypeError and
        ValueError as check_count

    >>> parallel_batch_processing([[1, 2], [3]], sum, num_workers=2)
    [3, 3]
    """
    return run_threads(operation, batch_data, num_workers)


# 06_threads: parallel_matmul
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    """The product of two matrices on several threads, each with a band of rows.

        kernel(a[rows], b, out=out[rows])    for each band of split(m, workers)

    a           : (m, k) float32 or float64, any stride; not modified
    b           : (k, n), the dtype of a; not modified, and read by all workers
    num_workers : as worker_count takes it, with m tasks
    out         : (m, n) of that dtype, or None for a new array
    kernel      : fills its out, and what it returns is not used; called once for each worker, with
                  views of a and out
    returns out
    raises TypeError and ValueError as check_matmul, check_out and check_count

    >>> parallel_matmul(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0], [4.0]]))
    array([[11.],
           [ 4.]])
    """
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)
    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out


# 06_threads: check_labels, count_into
def check_labels(x, bins):
    """The number of labels in x, if each of them is one of 0, 1, ..., bins - 1.

    x    : (n,) of any integer dtype
    bins : a whole number >= 1
    returns n
    raises TypeError for another dtype, ValueError for another number of axes, bins < 1, and a
        label outside
    """
    check_count("bins", bins)
    if getattr(x, "dtype", None) is None or x.dtype.kind not in "iu":
        raise TypeError(f"x must be an array of integers, not {getattr(x, 'dtype', type(x))}")
    if x.ndim != 1:
        raise ValueError(f"x has shape {x.shape}: one axis needed")
    if x.size and not (x.min() >= 0 and x.max() < bins):
        raise ValueError(f"x holds labels from {x.min()} to {x.max()}, bins are 0 to {bins - 1}")
    return x.size


def count_into(x, counts):
    """Add 1 to counts[v] for each v in x.

    x      : (n,) integers
    counts : (bins,) int64; modified
    """
    for value in x.tolist():
        counts[value] += 1


# 06_threads: parallel_histogram
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    """How often each label occurs, counted on several threads.

        counts[v] = number of i with x[i] == v

    x           : (n,) of any integer dtype, labels 0 .. bins - 1; not modified
    bins        : a whole number >= 1
    num_workers : as worker_count takes it, with n tasks
    kernel      : kernel(x_part, counts) adds to counts, an int64 array of its own for each worker;
                  called once for each band of split(n, workers)
    returns (bins,) int64, a new array; n = 0 gives zeros
    raises TypeError and ValueError as check_labels and check_count

    >>> parallel_histogram(np.array([2, 0, 2, 2]), bins=4)
    array([1, 0, 3, 0])
    """
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)
    private = np.zeros((len(bands), bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return private.sum(axis=0)


# 06_threads: amdahl
def amdahl(parallel_fraction, workers):
    """The speed-up of a program of which only a part can be split among workers.

        1 / ((1 - f) + f / w)

    parallel_fraction : f, 0 <= f <= 1, the share of the time on one worker that can be split: a
                        number or an array; not modified
    workers           : w >= 1, a number or an array; not modified
    returns a float for numbers, an array of floats where one of the two is an array
    raises ValueError for an f that is not in 0..1 and a w that is not >= 1, NaN included; types are
        not checked: both are what np.asarray(..., dtype=float) makes of them

    G. M. Amdahl, Validity of the single processor approach to achieving large scale computing
    capabilities, AFIPS 1967.

    >>> amdahl(0.5, 2), amdahl(1.0, 8)
    (1.3333333333333333, 8.0)
    """
    f, w = np.asarray(parallel_fraction, dtype=float), np.asarray(workers, dtype=float)
    if not (((f >= 0) & (f <= 1)).all() and (w >= 1).all()):
        raise ValueError(f"{parallel_fraction=} must be in 0..1 and {workers=} >= 1")
    speedup = 1 / ((1 - f) + f / w)
    return speedup if speedup.ndim else float(speedup)


def serial_fraction(speedup, workers):
    """The share of the time that must have been serial, by a measured speed-up.

        (1 / s - 1 / w) / (1 - 1 / w)

    speedup : s > 0: a number or an array; not modified
    workers : w > 1, a number or an array; not modified
    returns a float for numbers, an array of floats where one of the two is an array; less than 0
        for a speed-up of more than w, more than 1 for one below 1
    raises ValueError for an s that is not > 0 and a w that is not > 1 (with one worker there is
        nothing to tell), NaN included; types are not checked, as in amdahl

    A. H. Karp, H. P. Flatt, Measuring parallel processor performance, CACM 33(5), 1990.

    >>> serial_fraction(2.0, 3)
    0.25
    """
    s, w = np.asarray(speedup, dtype=float), np.asarray(workers, dtype=float)
    if not ((s > 0).all() and (w > 1).all()):
        raise ValueError(f"{speedup=} must be > 0 and {workers=} > 1")
    fraction = (1 / s - 1 / w) / (1 - 1 / w)
    return fraction if fraction.ndim else float(fraction)

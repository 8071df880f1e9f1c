"""Kernels and checks as data: what is right must pass and what is wrong must lose.

Each pair is judged in a notebook's runtime (test_battery.py) and through the judge's two processes
(test_battery_judged.py), with the same result. The sources stand alone: GIVEN runs first on both
sides, then the solution, then the test cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

GIVEN = """\
import threading

import numpy as np

from tito.checks import (
    counts,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_unchanged,
    expect_written,
    points,
    remote_array,
    rng,
    worker,
)


def ramp(*shape, dtype=np.float64):
    count = int(np.prod(shape))
    return np.arange(1, count + 1, dtype=dtype).reshape(shape)


def relu_spec(x):
    return np.array([max(v, 0) if v == v else v for v in x.flat], x.dtype).reshape(x.shape)
"""


@dataclass(frozen=True)
class Pair:
    """A test cell, a solution that passes it and one that must not.

    says   : what the failure of the wrong one must say
    raises : name of the exception that the wrong one ends the test cell with
    """

    name: str
    test: str
    right: str
    wrong: str
    says: str
    raises: str = "CheckFailed"


def _pair(name: str, test: str, right: str, wrong: str, says: str, raises: str = "CheckFailed"):
    return Pair(name, dedent(test), dedent(right), dedent(wrong), says, raises)


RELU = """
def relu(x):
    return np.where(x < 0, x.dtype.type(0), x)
"""

PAIRS = [
    _pair(
        "wrong values",
        """
        x = ramp(5) - 3
        expect_close(relu(x), relu_spec(x))
        """,
        RELU,
        "def relu(x):\n    return x.copy()\n",
        "wrong in 2 of 5 elements, first at [0]",
    ),
    _pair(
        "a reversed view arrives reversed",
        """
        x = ramp(5)[::-1]
        expect_equal(first_and_stride(x), (5.0, -8))
        """,
        "def first_and_stride(x):\n    return float(x[0]), x.strides[0]\n",
        """
        def first_and_stride(x):
            x = np.ascontiguousarray(x)
            return float(x[0]), x.strides[0]
        """,
        "wrong value at [1]",
    ),
    _pair(
        "a stepped column of a matrix arrives as such",
        """
        x = ramp(4, 6)[1:, ::2]
        expect_equal((x.shape, strides_of(x)), ((3, 3), (48, 16)))
        """,
        "def strides_of(x):\n    return x.strides\n",
        "def strides_of(x):\n    return np.ascontiguousarray(x).strides\n",
        "wrong value at [1][0]",
    ),
    _pair(
        "what is written comes back",
        """
        x, y = ramp(3), np.zeros(3)
        expect_close(expect_written(halves, x, y, place=1), ramp(3) / 2)
        """,
        "#| writes: y\ndef halves(x, y):\n    y[:] = x / 2\n",
        "#| writes: y\ndef halves(x, y):\n    return x / 2\n",
        "halves  x (3,) float64, y (3,) float64: wrong in all",
    ),
    _pair(
        "nothing but the place may be written into",
        """
        x, y, z = ramp(3), np.zeros(3), ramp(3)
        expect_close(expect_written(summed, x, y, z, place=1), 2 * ramp(3))
        """,
        "#| writes: y\ndef summed(x, y, z):\n    y[:] = x + z\n",
        "#| writes: y\ndef summed(x, y, z):\n    y[:] = x + z\n    z[2] = 0\n",
        "changed its input",
    ),
    _pair(
        "a view of the input is no fresh result",
        """
        x = ramp(6)
        expect_close(expect_fresh(double_or_all, x), x)
        """,
        "def double_or_all(x):\n    return x.copy()\n",
        "def double_or_all(x):\n    return x[:]\n",
        "shares memory with argument x",
    ),
    _pair(
        "the input itself is no fresh result",
        """
        x = ramp(2, 3)
        expect_close(expect_fresh(copied, x), ramp(2, 3))
        """,
        "def copied(x):\n    return x.copy()\n",
        "def copied(x):\n    return x\n",
        "shares memory with argument x",
    ),
    _pair(
        "the gaps of a sliced argument are the caller's memory",
        """
        x = np.zeros(9)[::2]
        expect_close(expect_fresh(four_numbers, x), np.zeros(4))
        """,
        "def four_numbers(x):\n    return np.zeros(4)\n",
        """
        def four_numbers(x):
            whole = np.lib.stride_tricks.as_strided(x, (2 * len(x) - 1,), (x.itemsize,))
            return whole[1::2]
        """,
        "its result shares memory with a",
    ),
    _pair(
        "one buffer for all results",
        """
        first = expect_fresh(doubled, ramp(4))
        second = expect_fresh(doubled, 3 * ramp(4))
        expect_close(first, 2 * ramp(4))
        """,
        "def doubled(x):\n    return 2 * x\n",
        """
        buffer = np.zeros(4)
        def doubled(x):
            np.multiply(x, 2, out=buffer)
            return buffer
        """,
        "shares memory with an earlier result",
    ),
    _pair(
        "a Fortran array read in C order",
        """
        a = np.asfortranarray(ramp(3, 4))
        expect_close(row_sums(a), np.array([10.0, 26.0, 42.0]), inner=4)
        """,
        "def row_sums(a):\n    return np.array([sum(row) for row in a])\n",
        """
        def row_sums(a):
            flat = a.ravel(order="K")
            return np.array([sum(flat[4 * i : 4 * i + 4]) for i in range(3)])
        """,
        "row_sums  a (3, 4) float64 Fortran: wrong in 2 of 3 elements",
    ),
    _pair(
        "changes its input",
        """
        x = ramp(2, 4) - 4
        want = relu_spec(x)
        expect_close(expect_unchanged(relu, x), want)
        """,
        RELU,
        "def relu(x):\n    x[x < 0] = 0\n    return x.copy()\n",
        "relu changed its input x at [0, 0]",
    ),
    _pair(
        "changes a part of its input where it does not show in the result",
        """
        x = ramp(6)
        expect_close(expect_unchanged(total, x), 21.0, inner=6)
        """,
        "def total(x):\n    return float(sum(x))\n",
        "def total(x):\n    s = float(sum(x))\n    x[-1] = -0.0\n    return s\n",
        "total changed its input x at [5]",
    ),
    _pair(
        "a stale answer from a cache",
        """
        for scale in (1, 5):
            x = scale * ramp(4)
            expect_close(doubled(x), 2 * x)
        """,
        "def doubled(x):\n    return 2 * x\n",
        """
        cache = {}
        def doubled(x):
            if x.shape not in cache:
                cache[x.shape] = 2 * x
            return cache[x.shape].copy()
        """,
        "doubled  x (4,) float64: wrong in all 4 elements",
    ),
    _pair(
        "float64 for float32",
        """
        x = ramp(3, dtype=np.float32)
        expect_close(doubled(x), 2 * x)
        """,
        "def doubled(x):\n    return x + x\n",
        "def doubled(x):\n    return np.array([2.0 * float(v) for v in x])\n",
        "its dtype is float64, expected float32",
    ),
    _pair(
        "a column for a vector",
        "expect_close(ones(3), np.ones(3))\n",
        "def ones(n):\n    return np.ones(n)\n",
        "def ones(n):\n    return np.ones((n, 1))\n",
        "its shape is (3, 1), expected (3,)",
    ),
    _pair(
        "an empty array for a full one",
        "expect_close(ones(3), np.ones(3))\n",
        "def ones(n):\n    return np.ones(n)\n",
        "def ones(n):\n    return np.ones(0)\n",
        "its shape is (0,), expected (3,)",
    ),
    _pair(
        "a list for an array",
        "expect_close(ones(2), np.ones(2))\n",
        "def ones(n):\n    return np.ones(n)\n",
        "def ones(n):\n    return [1.0] * n\n",
        "returned a list, expected an array",
    ),
    _pair(
        "forgets to return",
        "expect_close(ones(2), np.ones(2))\n",
        "def ones(n):\n    return np.ones(n)\n",
        "def ones(n):\n    result = np.ones(n)\n",
        "end the function with return",
    ),
    _pair(
        "a constant number for a constant array",
        "expect_close(ones(2), np.ones(2))\n",
        "def ones(n):\n    return np.ones(n)\n",
        "def ones(n):\n    return 1.0\n",
        "returned a float, expected an array",
    ),
    _pair(
        "NaN becomes 0",
        """
        x = np.array([1.0, np.nan, -1.0])
        expect_close(relu(x), relu_spec(x))
        """,
        RELU,
        "def relu(x):\n    return np.where(x > 0, x, 0.0)\n",
        "a finite number at [1], where nan is expected",
    ),
    _pair(
        "NaN where a number is expected",
        "expect_close(mean_of(np.array([1.0, 3.0])), 2.0)\n",
        "def mean_of(x):\n    return float(x[0] + x[1]) / 2\n",
        "def mean_of(x):\n    return float('nan')\n",
        "nan, where a finite number is expected",
    ),
    _pair(
        "infinity for a large number",
        "expect_close(large(), np.array([1e308]))\n",
        "def large():\n    return np.array([1e308])\n",
        "def large():\n    return np.array([np.inf])\n",
        "inf at [0], where a finite number is expected",
    ),
    _pair(
        "a difference that a relative tolerance of 1e-5 lets pass",
        "expect_close(offset(), np.array([1e9 + 500.0]))\n",
        "def offset():\n    return np.array([1e9 + 500.0])\n",
        "def offset():\n    return np.array([1e9 + 1.0])\n",
        "wrong in its only element",
    ),
    _pair(
        "a difference that an absolute tolerance of 1e-8 lets pass",
        "expect_close(small(), np.array([5e-9]))\n",
        "def small():\n    return np.array([5e-9])\n",
        "def small():\n    return np.array([1e-9])\n",
        "wrong in its only element",
    ),
    _pair(
        "a sum kept in float32 where float64 is promised",
        """
        x = np.full(2000, 0.1, np.float32)
        want = np.float32(float(x[0]) * 2000)
        expect_close(total(x), want)
        """,
        "def total(x):\n    return np.float32(sum(float(v) for v in x))\n",
        """
        def total(x):
            s = np.float32(0)
            for v in x:
                s += v
            return s
        """,
        "wrong value",
    ),
    _pair(
        "a 0-d array for a number",
        "expect_close(half(np.float32(3)), np.float32(1.5))\n",
        "def half(x):\n    return np.float32(x / 2)\n",
        "def half(x):\n    return np.array(x / 2, np.float32)\n",
        "returned a 0-d array, expected a float32 number",
    ),
    _pair(
        "a bool for a number",
        "expect_close(one(), 1.0)\n",
        "def one():\n    return 1.0\n",
        "def one():\n    return True\n",
        "returned a bool, expected a float",
    ),
    _pair(
        "-0.0 is 0.0",
        "expect_close(minus(np.zeros(2)), np.zeros(2))\n",
        "def minus(x):\n    return -x\n",
        "def minus(x):\n    return -x - 1e-300\n",
        "wrong in all 2 elements",
    ),
    _pair(
        "integers are compared exactly",
        "expect_close(count(), np.array([10**15, 2]))\n",
        "def count():\n    return np.array([10**15, 2])\n",
        "def count():\n    return np.array([10**15 + 1, 2])\n",
        "wrong in 1 of 2 elements, first at [0]",
    ),
    _pair(
        "an int, not a bool",
        "expect_equal(block(), 1)\n",
        "def block():\n    return 1\n",
        "def block():\n    return True\n",
        "returned a bool, expected an int",
    ),
    _pair(
        "a tuple of three",
        "expect_equal(sizes(ramp(2, 3), ramp(3, 4)), (2, 3, 4))\n",
        "def sizes(a, b):\n    return (*a.shape, b.shape[1])\n",
        "def sizes(a, b):\n    return (*a.shape, b.shape[0])\n",
        "wrong value at [2]",
    ),
    _pair(
        "a dictionary of arrays",
        """
        x, y = ramp(3), ramp(3) + 1
        expect_equal(both(x, y), {"sum": x + y, "product": x * y})
        """,
        "def both(x, y):\n    return {'sum': x + y, 'product': x * y}\n",
        "def both(x, y):\n    return {'sum': x + y}\n",
        "key 'product' is missing",
    ),
    _pair(
        "no exception",
        "expect_raises(ValueError, chunks, 4, 0)\n",
        """
        def chunks(n, k):
            if k < 1:
                raise ValueError(f"k must be at least 1, not {k}")
            return n // k
        """,
        "def chunks(n, k):\n    return n // max(k, 1)\n",
        "chunks(4, 0): did not raise ValueError",
    ),
    _pair(
        "another exception",
        "expect_raises(ValueError, chunks, 4, 0)\n",
        """
        def chunks(n, k):
            if k < 1:
                raise ValueError(f"k must be at least 1, not {k}")
            return n // k
        """,
        "def chunks(n, k):\n    return n // k\n",
        "raised ZeroDivisionError, expected ValueError",
    ),
    _pair(
        "an assert for an exception",
        "expect_raises(ValueError, chunks, 4, 0)\n",
        "def chunks(n, k):\n    if k < 1:\n        raise ValueError('k < 1')\n",
        "def chunks(n, k):\n    assert k >= 1, 'k < 1'\n",
        "asserts vanish under python -O",
    ),
    _pair(
        "an exception without a word",
        "expect_raises(ValueError, chunks, 4, 0)\n",
        "def chunks(n, k):\n    if k < 1:\n        raise ValueError('k < 1')\n",
        "def chunks(n, k):\n    if k < 1:\n        raise ValueError\n",
        "its exception has no message",
    ),
    _pair(
        "a message that names nothing",
        "expect_raises(ValueError, chunks, 4, 0, match='k')\n",
        "def chunks(n, k):\n    if k < 1:\n        raise ValueError('k must be 1 or more')\n",
        "def chunks(n, k):\n    if k < 1:\n        raise ValueError('wrong')\n",
        "its message does not say 'k'",
    ),
    _pair(
        "a stub raises no ValueError",
        "expect_raises(RuntimeError, chunks, 4, 0)\n",
        "def chunks(n, k):\n    raise RuntimeError('k < 1')\n",
        "def chunks(n, k):\n    raise NotImplementedError()\n",
        "",
        raises="NotImplementedError",
    ),
    _pair(
        "swapped byte order is refused",
        "expect_raises(TypeError, doubled, np.ones(2).astype('>f8'))\n",
        """
        def doubled(x):
            if not x.dtype.isnative:
                raise TypeError(f"x has dtype {x.dtype}: use .astype(np.float64)")
            return 2 * x
        """,
        "def doubled(x):\n    return 2 * x\n",
        "did not raise TypeError",
    ),
    _pair(
        "a read-only array arrives read-only",
        """
        x = ramp(3)
        x.flags.writeable = False
        expect_close(scaled(x), 2 * x)
        """,
        "def scaled(x):\n    return 2 * x\n",
        "def scaled(x):\n    x *= 2\n    return x\n",
        "read-only",
        raises="ValueError",
    ),
    _pair(
        "an exception in the kernel ends the test",
        "expect_close(shifted(ramp(3)), np.array([2.0, 3.0, 1.0]))\n",
        "def shifted(x):\n    return np.array([x[(i + 1) % 3] for i in range(3)])\n",
        "def shifted(x):\n    return np.array([x[i + 1] for i in range(3)])\n",
        "index 3 is out of bounds",
        raises="IndexError",
    ),
    _pair(
        "one array given twice stays one",
        """
        x = ramp(3)
        expect_equal(same_memory(x, x), True)
        """,
        "def same_memory(a, b):\n    return bool(np.shares_memory(a, b))\n",
        "def same_memory(a, b):\n    return bool(np.shares_memory(a, b.copy()))\n",
        "wrong value",
    ),
    _pair(
        "out is written and returned",
        """
        x, y = ramp(3), np.zeros(3)
        expect_equal(doubled(x, out=y) is y, True)
        expect_close(y, 2 * x)
        """,
        "def doubled(x, out):\n    out[...] = 2 * x\n    return out\n",
        "def doubled(x, out):\n    out[...] = 2 * x\n    return out.copy()\n",
        "wrong value",
    ),
    _pair(
        "a callback runs with the test",
        """
        seen = []
        def note(i):
            seen.append(i)
            return 10 * i
        expect_equal(mapped(note, 3), [0, 10, 20])
        expect_equal(seen, [0, 1, 2])
        """,
        "def mapped(f, n):\n    return [f(i) for i in range(n)]\n",
        "def mapped(f, n):\n    return [f(i) for i in range(n) for _ in (0, 1)][::2]\n",
        "6 items, expected 3",
    ),
    _pair(
        "two threads call back",
        """
        ids = set()
        meet = threading.Barrier(2, timeout=60)
        def note(i):
            meet.wait()
            ids.add(worker())
        run_two(note)
        expect_equal(len(ids), 2)
        """,
        """
        def run_two(f):
            threads = [threading.Thread(target=f, args=(i,)) for i in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        """,
        "def run_two(f):\n    return None\n",
        "wrong value",
    ),
    _pair(
        "exact reads of a counted array",
        """
        x = ramp(3, 4) - 6
        want = relu_spec(x)
        counted = remote_array(x)
        expect_equal(relu(counted), want)
        expect_equal(counts(counted).reads, x.size)
        """,
        """
        def relu(x):
            y = np.zeros_like(x)
            for index in np.ndindex(*x.shape):
                value = x[index]
                y[index] = 0 if value < 0 else value
            return y
        """,
        """
        def relu(x):
            y = np.zeros_like(x)
            for index in np.ndindex(*x.shape):
                y[index] = 0 if x[index] < 0 else x[index]
            return y
        """,
        "wrong value",
    ),
    _pair(
        "writes to a counted out",
        """
        x, y = remote_array(ramp(4)), remote_array(np.zeros(4), "out")
        copy_into(x, out=y)
        expect_equal(tuple(counts(y)), (0, 4))
        """,
        "def copy_into(x, out):\n    for i in range(len(x)):\n        out[i] = x[i]\n",
        """
        def copy_into(x, out):
            for i in range(len(x)):
                out[i] = 0
                out[i] += x[i]
        """,
        "wrong value at [0]",
    ),
    _pair(
        "a counted array is not copied unseen",
        "expect_close(total(remote_array(ramp(4))), 10.0, inner=4)\n",
        "def total(x):\n    return float(sum(x[i] for i in range(len(x))))\n",
        "def total(x):\n    return float(np.sum(x))\n",
        "this copies the array",
        raises="TypeError",
    ),
    _pair(
        "a likely cause is named",
        """
        for n in (2, 7):
            x = ramp(n)
            expect_close(running_sum(x), np.array([sum(x[: i + 1]) for i in range(n)]), inner=n,
                         likely={"adds only the neighbour": lambda: x + np.append(0, x[:-1])})
        """,
        """
        def running_sum(x):
            y, s = np.zeros_like(x), 0.0
            for i, v in enumerate(x):
                s += v
                y[i] = s
            return y
        """,
        "def running_sum(x):\n    return x + np.concatenate([[0.0], x[:-1]])\n",
        "likely    adds only the neighbour",
    ),
    _pair(
        "random inputs are the same in every run",
        """
        x = rng("battery").standard_normal(5)
        expect_close(doubled(x), 2 * x)
        expect_equal(rng("battery").standard_normal(5), x)
        """,
        "def doubled(x):\n    return 2 * x\n",
        "def doubled(x):\n    return 2 * np.abs(x) + 1\n",
        "doubled",
    ),
]

# ---
# jupyter:
#   jupytext:
#     cell_markers: '"""'
#     cell_metadata_filter: nbgrader,tags,jupyter,-all
#     comment_magics: false
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
"""
# 03 Vectorize: NumPy that allocates nothing it does not need

| | |
|---|---|
| hours | 4 |
| difficulty | 2 of 5 |
| needs | 01_measure, 02_loops; NumPy slices and broadcasting |
| code goes to | `tinykernels/vectorized.py` |
| points | 36 by tests, 6 by hand |

After this module you can

- write ReLU, softmax, layer norm and convolution without a loop of your own, by the same rules as in 02;
- say how many bytes a line of NumPy allocates, and bring it down with `out=`;
- tell from shape and strides whether an array is a view or a copy, and make windows that overlap in memory;
- turn a convolution into one matrix product.

The kernels of this module are the ones that later modules split into blocks, give to threads and try to beat.

*The text of this module is licensed CC BY 4.0, its code Apache-2.0, by the TinyKernels authors.*
"""

# %%
try:
    import tito.here  # the package of this course folder comes first; prints nothing
except ModuleNotFoundError:
    raise ImportError(
        "This notebook runs in a Python that does not know this course: choose the course's "
        "kernel (Kernel, Change Kernel), or run `tito doctor` in a terminal."
    ) from None

# %%
#| default_exp vectorized
#| export
from math import inf, nan

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tinykernels.loops import check_count, check_float_array, check_matmul

# %% jupyter={"source_hidden": true}
# Given: what the tests and measurements below use.
import contextlib
import math
import operator
import statistics
import tracemalloc
from fractions import Fraction
from functools import partial

from tito.checks import (
    CheckFailed,
    claim,
    counts,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_unchanged,
    points,
    remote_array,
    rng,
    speed,
)


def ramp(*shape, seed=0, dtype=np.float64):
    """Quarters from -3.75 to 3.75 in mixed order: exact in float32 and float64."""
    steps = 7 * np.arange(math.prod(shape)) + 5 * seed
    return ((steps % 31 - 15) / 4).astype(dtype).reshape(shape)


def layouts(x):
    """(name, array) pairs: the values of x in every layout that a caller may hand in."""
    every_second = (slice(1, None, 2),) * x.ndim
    stepped = np.full([2 * n + 1 for n in x.shape], 99, x.dtype)[every_second]
    stepped[...] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    yield "C order", x.copy()
    yield "Fortran order", x.copy(order="F")
    yield "a transposed view", x.T.copy().T
    yield "every second element of a larger array", stepped
    yield "a reversed view", np.flip(np.flip(x).copy())
    yield "a read-only array", frozen
    yield "an unaligned array", unaligned


def bad_outs(x, shape):
    """(what is wrong, array) pairs that no kernel may take as out for a result of this shape."""
    other = np.float32 if x.dtype == np.float64 else np.float64
    frozen = np.zeros(shape, x.dtype)
    frozen.flags.writeable = False
    yield "of another shape", np.zeros((1, *shape), x.dtype)
    yield "of another dtype", np.zeros(shape, other)
    yield "read-only", frozen
    if x.shape == shape:
        yield "the input itself", x
        yield "the input, backwards", x[::-1]


def peak_bytes(func, *args, **kwargs):
    """The most memory that a call holds beyond what was there before, its result included."""
    func(*args, **kwargs)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        func(*args, **kwargs)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


# %% [markdown]
"""
## The gap

Here is ReLU on a million numbers, spelled in four ways, one line each.

**Predict.** Order them from fast to slow. One of the four is *wrong* for one value of `x`: which spelling, which value? Then run the cell.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

x = np.random.default_rng(3).normal(size=1_000_000).astype(np.float32)
result = np.empty_like(x)
special = np.array([-1, 2, nan, -inf, inf], np.float32)
right = np.array([0, 2, nan, 0, inf], np.float32)
spellings = {
    "np.where(x < 0, 0, x)": lambda x, out: np.where(x < 0, 0, x),
    "x * (x > 0)": lambda x, out: x * (x > 0),
    "np.maximum(x, 0)": lambda x, out: np.maximum(x, 0),
    "np.maximum(x, 0, out=y)": lambda x, out: np.maximum(x, 0, out=out),
}
times = {name: time_call(kernel, x, result).median for name, kernel in spellings.items()}
for name, kernel in spellings.items():
    with np.errstate(invalid="ignore"):
        got = kernel(special, np.empty_like(special))
    wrong = special[~np.isclose(got, right, equal_nan=True)]
    verdict = f"wrong for x = {', '.join(map(str, wrong))}" if wrong.size else "right"
    print(f"{name:26}{times[name] * 1e3:8.3f} ms   {verdict}")
slowest, fastest = max(times, key=times.get), min(times, key=times.get)
print(f"The same job: {slowest} takes {times[slowest] / times[fastest]:.1f} times {fastest}.")

# %% [markdown]
"""
No Python loop is left in any of them, and still they differ. Where the time goes now: into *passes over memory* that a line makes and into *arrays* that it allocates on the way. This module is about both.

**Rules that hold for all kernels of this course.** Arrays are float32 or float64, all of a call in one dtype, and so is the result. Inputs are never changed. Empty inputs are no special case: they give what the mathematics says, and an empty sum is 0. Wrong types raise `TypeError`, wrong sizes and values `ValueError`, before any work and with a message. Each exercise gives you a specification to compare with, `..._spec`; a kernel that calls it earns nothing. The doors are the ones you wrote in 02: `tito export 02` puts them into your package, and all kernels here begin with them.

**New: `out=`.** A caller who has a place for the result passes it, and the kernel fills it and returns it: `softmax(x, out=y) is y`. Without it the result is a new array. An `out` must have the exact shape and dtype of the result, be writeable, and share no memory with an input. The next cell holds the door for that, and with it the whole pattern in one worked example: check the inputs, check `out`, let NumPy write into it.
"""


# %%
#| export
def check_out(out, shape, x, *others):
    """An array to write a result into: `out` itself if it fits, a new one if it is None.

    out       : what the caller passed
    shape     : the shape of the result
    x, others : the inputs, all of one dtype, which is the dtype of the result
    returns out, or a new array with anything in it
    raises TypeError for what is no array; ValueError for another shape or dtype, a read-only
        array, and one that shares memory with an input

    >>> check_out(None, (2, 3), np.zeros(3)).shape
    (2, 3)
    """
    if out is None:
        return np.empty(shape, x.dtype)
    if getattr(out, "dtype", None) is None:
        raise TypeError(f"out is a {type(out).__name__}: pass an array or None")
    if out.shape != shape or out.dtype != x.dtype:
        raise ValueError(f"out is {out.dtype} {out.shape}, the result is {x.dtype} {shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    arrays = isinstance(out, np.ndarray) and isinstance(x, np.ndarray)
    if arrays and np.shares_memory(out, x):
        raise ValueError("out shares memory with an input: it would change while it is read")
    return check_out(out, shape, *others) if others else out


def matmul_baseline(a, b, out=None):
    """The product of two matrices by NumPy's `@`, which hands it to a BLAS.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_baseline(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    return np.matmul(a, b, out=out)


optimized_matmul = matmul_baseline  # the name that other courses and the benchmarks know it by

# %% [markdown]
"""
## Exercise 1: ReLU, in place of a temporary

A NumPy operation on whole arrays (a *ufunc*: `np.add`, `np.maximum`, `np.exp`) loops in compiled code. Written as `y = np.maximum(x, 0)` it must first get memory for `y`, and when the operating system hands out a large piece of it, it clears it page by page. Written as `np.maximum(x, 0, out=y)` it writes where you say. The difference looks like this:

    y[...] = np.maximum(x, 0)      allocates an array, fills it, copies it into y, drops it
    np.maximum(x, 0, out=y)        fills y

Both give the same numbers. The last test cell of this exercise reads how many bytes your function allocates.

`np.where` is off limits here, and so are loops and comprehensions of your own: a forbidden route makes the tests of this exercise worth nothing, and the message names its line.

**Predict.** `x` is an array of 8 MB. How many bytes does `np.where(x < 0, 0, x)` hold at its peak, and how many does `np.maximum(x, 0, out=y)`?
"""


# %%
def relu_spec(x):
    """ReLU by a list of Python floats; NaN stays NaN."""
    kept = [0.0 if v < 0 else v for v in x.ravel().tolist()]
    return np.array(kept, x.dtype).reshape(x.shape)


# %% nbgrader={"grade": false, "grade_id": "vectorized_relu", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: loops, where, spec
def vectorized_relu(x, out=None):
    """Zero in place of every negative element.

        y[...] = 0 where x[...] < 0, else x[...]

    x   : float32 or float64, one axis or more, any stride; not modified; NaN stays NaN
    out : an array of x's shape and dtype, or None for a new one
    returns out; with out= the call allocates nothing of x's shape, not even a mask
    raises TypeError and ValueError as check_float_array and check_out

    >>> vectorized_relu(np.array([[-1.5, 0.0], [2.5, -np.inf]]))
    array([[0. , 0. ],
           [2.5, 0. ]])
    """
    # Hint: ndim=None lets any number of axes pass. About 3 lines.
    ### BEGIN SOLUTION
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    return np.maximum(x, 0, out=out)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "vectorized_relu-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
special = np.array([1, nan, -1, -inf, inf], np.float32)
for x in (ramp(7), ramp(3, 5), ramp(2, 3, 2).astype(np.float32), ramp(0), special):
    want = relu_spec(x)
    got = expect_unchanged(vectorized_relu, x)
    causes = {
        "-inf * 0 is NaN: a product with a mask is no ReLU": lambda: x * (x > 0),
        "NaN became 0, since nan > 0 is False": lambda: np.fmax(x, 0),
        "the sign was dropped: negative elements become 0": lambda: abs(x),
    }
    hint = "one ufunc does it for any shape, and NaN passes through it"
    expect_equal(got, want, likely=causes, hint=hint, allow_empty=True)
x = ramp(3, 5)
want, out = relu_spec(x), np.full((3, 5), 7.0)
got = vectorized_relu(x, out=out)
expect_equal(got is out, True, hint="with out= the result is out itself: return it")
expect_equal(out, want, hint="fill all of out, whatever stood in it")
for what, out in bad_outs(x, x.shape):
    expect_raises(ValueError, vectorized_relu, x, out, hint=f"out is {what}: ask check_out")
expect_raises(TypeError, vectorized_relu, [1.0, -1.0], hint="begin with check_float_array")

# %% nbgrader={"grade": true, "grade_id": "vectorized_relu-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("vectorized_relu-hidden").standard_normal
for shape in ((1,), (2,), (33,), (0, 3), (1, 7), (13, 5), (2, 0, 3), (2, 3, 4, 2)):
    for dtype in (np.float32, np.float64):
        x = normal(shape).astype(dtype)
        want = relu_spec(x)
        got = expect_fresh(vectorized_relu, x)
        hint = "any shape, both dtypes, a new array"
        expect_equal(got, want, allow_empty=True, hint=hint)
for name, x in layouts(normal((5, 4))):
    want = relu_spec(x)
    expect_equal(
        expect_unchanged(vectorized_relu, x), want, hint=f"x may be {name}; leave it as it is"
    )
x = normal((4, 6))
want, whole = relu_spec(x), np.full((8, 12), 7.0)
out = whole[1::2, ::-2]
got = vectorized_relu(out=out, x=x)
expect_equal(got is out, True, hint="with out= the result is out itself, also where it is a view")
expect_equal(out.copy(), want, hint="out may be a view with steps; arguments by name")
expect_equal(whole[::2], np.full((4, 12), 7.0), hint="what lies between the elements of out stays")
for x in (-np.abs(normal(7)), np.array([0.5, -2, nan]), np.array([[nan], [-inf]])):
    want = relu_spec(x)
    expect_equal(vectorized_relu(x), want, hint="all negative gives zeros; NaN stays NaN")
buffer = normal(12)
expect_raises(ValueError, vectorized_relu, buffer[:8], buffer[4:], hint="out overlaps the input")
expect_raises(TypeError, vectorized_relu, normal(3), [0.0] * 3, hint="out is a list: TypeError")
expect_raises(TypeError, vectorized_relu, np.arange(3), hint="integers: TypeError from the door")
expect_raises(ValueError, vectorized_relu, np.array(1.0), hint="no axis: ValueError from the door")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "vectorized_relu-memory", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x = ramp(100, 150)
want, out = relu_spec(x), np.full((100, 150), 7.0)
extra = claim("peak_bytes", vectorized_relu, x, out=out)
got = vectorized_relu(x, out=out)
expect_equal((got, out)[1], want, hint="the same values with out= as without")
frugal = extra <= 0.1 * x.nbytes
points(
    1 if frugal else 0,
    None if frugal else f"{extra:,} extra bytes for {x.nbytes:,} of out: pass out= to the ufunc",
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

x = np.random.default_rng(1).normal(size=1_000_000)
y = np.empty_like(x)


def copied_into(x, out):
    """The second best way: a temporary, and a copy of it."""
    out[...] = np.maximum(x, 0)
    return out


print("ReLU of a million float64             time      extra memory")
for name, kernel, arguments in (
    ("np.where(x < 0, 0, x)", lambda x: np.where(x < 0, 0, x), (x,)),
    ("y[...] = np.maximum(x, 0)", copied_into, (x, y)),
    ("vectorized_relu(x)", vectorized_relu, (x,)),
    ("vectorized_relu(x, out=y)", vectorized_relu, (x, y)),
):
    try:
        held = peak_bytes(kernel, *arguments) / x.nbytes
    except NotImplementedError:
        print(f"{name:30}left out: not written yet")
        continue
    seconds = time_call(kernel, *arguments).median
    print(f"{name:30}{seconds * 1e3:9.3f} ms{held:9.2f} arrays of x's size")

# %% [markdown]
r"""
## Exercise 2: Five operations on two arrays

Whoever compares two arrays wants some of these: the product and the sum of their elements, the squared differences, and two numbers over all of them,

$$ \text{distance} = \sqrt{\sum_i (x_i - y_i)^2} \qquad\qquad \text{dot product} = \sum_i x_i\, y_i $$

Three traps:

- *Broadcasting is silent.* `(3,)` plus `(3, 1)` is `(3, 3)`, and no error is raised. Here shapes must be equal.
- *`np.dot` means two things.* For vectors it is the sum above, for matrices it is a matrix product. `np.vdot` flattens both first.
- *A NumPy number is no Python number.* The sum of a float32 array is an `np.float32`, and it keeps float32 arithmetic alive in whatever you compute with it. The two numbers here leave as Python floats.

**Predict.** Beside the three arrays that are returned, how many arrays of their size does your function need at its peak? The last test allows one.
"""


# %%
def operations_spec(x, y):
    """The five results by lists of Python floats; sums are exact before they are rounded."""
    pairs = list(zip(x.ravel().tolist(), y.ravel().tolist()))
    squares = [(v - w) * (v - w) for v, w in pairs]
    products = [v * w for v, w in pairs]
    sums = [v + w for v, w in pairs]
    return {
        "element_wise_multiply": np.array(products, x.dtype).reshape(x.shape),
        "element_wise_add": np.array(sums, x.dtype).reshape(x.shape),
        "squared_difference": np.array(squares, x.dtype).reshape(x.shape),
        "euclidean_distance": math.sqrt(math.fsum(squares)),
        "dot_product": math.fsum(products),
    }


def sum_scale(*terms):
    """The scale of a sum's rounding errors; sums of float32 may be rounded to float32."""
    coarse = np.finfo(terms[0].dtype).eps / np.finfo(np.float64).eps
    return float(coarse * np.abs(np.prod([t.astype(float) for t in terms], axis=0)).sum())


# %% nbgrader={"grade": false, "grade_id": "vectorized_operations", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: loops, spec
def vectorized_operations(x, y):
    """Five results from two arrays of one shape.

    x : float32 or float64, one axis or more, any stride; not modified
    y : the shape and dtype of x; not modified
    returns a dictionary
        "element_wise_multiply"  x * y                    new arrays of the shape and dtype of x
        "element_wise_add"       x + y
        "squared_difference"     (x - y)**2
        "euclidean_distance"     sqrt(sum of (x - y)**2)  Python floats over all elements
        "dot_product"            sum of x * y
    raises TypeError and ValueError as check_float_array, ValueError also for shapes that differ:
        nothing is broadcast, and the message shows both

    >>> vectorized_operations(np.array([3.0, 0.0]), np.array([0.0, 4.0]))["euclidean_distance"]
    5.0
    """
    # Hint: np.vdot(x, y), and float(...) for the two numbers. About 12 lines.
    ### BEGIN SOLUTION
    shape = check_float_array("x", x, ndim=None)
    if check_float_array("y", y, ndim=None, dtype=x.dtype) != shape:
        raise ValueError(f"x is {x.shape} and y is {y.shape}: the shapes must be equal")
    squares = np.subtract(x, y)
    squares *= squares
    return {
        "element_wise_multiply": np.multiply(x, y),
        "element_wise_add": np.add(x, y),
        "squared_difference": squares,
        "euclidean_distance": float(np.sqrt(squares.sum())),
        "dot_product": float(np.vdot(x, y)),
    }
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "vectorized_operations-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for shape, dtype in (((5,), np.float64), ((3, 3), np.float32), ((2, 3, 2), np.float64)):
    x, y = ramp(*shape, dtype=dtype), ramp(*shape, seed=2, dtype=dtype)
    want = operations_spec(x, y)
    try:
        got = expect_unchanged(vectorized_operations, x, y)
    except (ValueError, TypeError) as error:
        raise CheckFailed(
            f"vectorized_operations  x {shape}, y {shape}: {error}\n"
            "  likely    np.dot of two axes is a matrix product\n"
            "  try       flatten both: np.vdot(x, y)"
        ) from None
    expect_equal(sorted(got), sorted(want), hint="the dictionary has these five keys")
    for key in ("element_wise_multiply", "element_wise_add", "squared_difference"):
        expect_close(got[key], want[key], case=f"{key}, x {shape}", hint="element by element")
    hint = "the two numbers are Python floats over all elements: float(...)"
    distance, product = got["euclidean_distance"], got["dot_product"]
    causes = {
        "this is the difference of two norms: the distance is the norm of the difference": lambda: (
            math.sqrt(np.vdot(x, x)) - math.sqrt(np.vdot(y, y))
        ),
        "the root is missing": lambda: want["euclidean_distance"] ** 2,
    }
    expect_close(
        (got, distance)[1],
        want["euclidean_distance"],
        inner=x.size,
        scale=sum_scale(x - y, x - y) / want["euclidean_distance"],
        likely=causes,
        hint=hint,
        case=f"euclidean_distance, x {shape}",
    )
    expect_close(
        (got, product)[1],
        want["dot_product"],
        inner=x.size,
        scale=sum_scale(x, y),
        likely={"the products are added without their signs": lambda: np.abs(x * y).sum()},
        hint=hint + "; np.dot of two axes is a matrix, so flatten both (np.vdot)",
        case=f"dot_product, x {shape}",
    )
    kinds = [type(number).__name__ for number in (distance, product)]
    expect_equal((got, kinds)[1], ["float", "float"], hint=hint, case="types of the two numbers")
expect_raises(
    ValueError,
    vectorized_operations,
    ramp(3),
    ramp(3, 1),
    hint="shapes must be equal: broadcasting made (3, 3) of (3,) and (3, 1)",
)

# %% nbgrader={"grade": true, "grade_id": "vectorized_operations-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("vectorized_operations-hidden").standard_normal
cases = [
    (normal(shape).astype(dtype), normal(shape).astype(dtype), "any shape, both dtypes")
    for shape in ((1,), (2,), (33,), (7, 5), (1, 3, 2, 2), (0,), (3, 0))
    for dtype in (np.float32, np.float64)
]
left, right = normal((4, 3)), normal((4, 3))
cases += [(x, y, f"x may be {n}") for (n, x), y in zip(layouts(left), [right] * 7)]
cases += [(x, y, f"y may be {n}") for x, (n, y) in zip([left] * 7, layouts(right))]
for x, y, what in cases:
    want = operations_spec(x, y)
    got = expect_fresh(vectorized_operations, x, y)
    expect_equal(sorted(got), sorted(want), hint="five keys, whatever the input")
    for key in ("element_wise_multiply", "element_wise_add", "squared_difference"):
        expect_close(got[key], want[key], allow_empty=True, hint=f"{what}; new arrays")
    for key, scale in (
        ("euclidean_distance", sum_scale(x - y, x - y) / (want["euclidean_distance"] or 1)),
        ("dot_product", sum_scale(x, y)),
    ):
        expect_close(
            got[key],
            want[key],
            inner=x.size + 1,
            scale=scale,
            hint=f"{what}; a Python float over all elements, 0.0 for none",
        )
        expect_equal(type(got[key]).__name__, "float", hint="a Python float, for any input")
x, y = np.array([1.0, nan, 3.0]), np.array([1.0, 2.0, -inf])
want = np.array([0.0, nan, inf])
got = vectorized_operations(y=y, x=x)
expect_close(got["squared_difference"], want, hint="NaN and infinity follow the arithmetic")
for x, y in (
    (normal((2, 3)), normal((3, 2))),
    (normal((2, 3)), normal(3)),
    (normal(1), normal(4)),
    (normal(6), normal((2, 3))),
    (np.array(1.0), np.array(2.0)),
):
    expect_raises(ValueError, vectorized_operations, x, y, hint="unequal shapes, or no axis")
for x, y in (
    (normal(3), normal(3).astype(np.float32)),
    (np.arange(3), np.arange(3)),
    (normal(3), [1.0, 2.0, 3.0]),
):
    expect_raises(TypeError, vectorized_operations, x, y, hint="mixed or wrong dtypes, a list")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "vectorized_operations-memory", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x, y = ramp(100, 120), ramp(100, 120, seed=2)
want = operations_spec(x, y)
held = claim("peak_bytes", vectorized_operations, x, y)
got = vectorized_operations(x, y)
for key in ("element_wise_multiply", "element_wise_add", "squared_difference"):
    expect_close(got[key], want[key], hint="right values first")
temporaries = held / x.nbytes - 3
frugal = temporaries <= 1.25
points(
    1 if frugal else 0,
    None
    if frugal
    else f"{temporaries:.1f} temporaries beside the three results, one is allowed: use a result "
    "for the next step, or work in place on what is yours",
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

print("elements      vectorized_operations    one np.add    ratio")
for size in (10, 1_000, 100_000, 1_000_000):
    x, y = ramp(size), ramp(size, seed=2)
    try:
        five = time_call(vectorized_operations, x, y).median
    except NotImplementedError:
        print("left out: not written yet")
        break
    one = time_call(np.add, x, y).median
    print(f"{size:9,}{five * 1e6:22.1f} us{one * 1e6:11.1f} us{five / one:9.1f}")
else:
    print(
        f"Five results from {size:,} elements cost {five / one:.1f} times one addition.\n"
        "For 10 elements it is the calls that cost, not the elements."
    )

# %% [markdown]
"""
## Exercise 3: A product out of outer products

In 02 one element of the product was a row of `a` times a column of `b`. Turn the loops inside out and it reads differently: the whole product is a sum of `k` matrices, and each of them is a *column* of `a` times a *row* of `b`.

    c  =  a[:, 0] ⊗ b[0, :]  +  a[:, 1] ⊗ b[1, :]  +  ...          ⊗: (m, 1) times (1, n) is (m, n)

One turn of the Python loop now does `m * n` multiply-adds. Broadcasting makes the outer product, as long as you keep both axes: `a[:, p]` has the shape `(m,)`, but `a[:, p : p + 1]` has the shape `(m, 1)`.

The shortest spelling needs no loop at all: `(a[:, :, None] * b[None, :, :]).sum(axis=1)`. It makes all `m * k * n` products at once and adds them up afterwards.

`@`, `np.dot`, `np.einsum` and their kin are off limits in this exercise, and so are `np.outer`, which would hide the broadcasting, and `matmul_baseline`, which goes through a BLAS.

**Predict.** `a` and `b` are 128 x 128 float64. How many MB does the shortest spelling allocate? Is it faster or slower than the loop over `p`?
"""


# %%
def matmul_spec(a, b):
    """The product in float64, one row of the result after the other."""
    rows = [(row[:, None] * b.astype(float)).sum(axis=0) for row in a.astype(float)]
    return np.array(rows, a.dtype).reshape(a.shape[0], b.shape[1])


def matmul_scale(a, b):
    """The terms of each sum added up without their signs: the scale of its rounding errors."""
    return np.abs(a).astype(float) @ np.abs(b).astype(float)


# %% nbgrader={"grade": false, "grade_id": "vectorized_matmul", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, spec
def vectorized_matmul(a, b, out=None):
    """The product of two matrices as a sum of outer products.

        c = sum over p of  a[:, p] (m, 1)  times  b[p, :] (1, n)

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a; not modified
    out : (m, n) of that dtype, or None for a new array; what stood in it does not count
    returns out; k = 0 gives zeros; at its peak the call holds two arrays of the result's size
    raises TypeError and ValueError as check_matmul and check_out

    >>> vectorized_matmul(np.array([[1.0, 2.0]]), np.array([[3.0, 0.5], [4.0, 1.0]]))
    array([[11. ,  2.5]])
    """
    # Hint: out[...] = 0, then add to it. About 6 lines.
    ### BEGIN SOLUTION
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "vectorized_matmul-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, k, n, dtype in (
    (3, 3, 3, np.float64),
    (2, 3, 4, np.float32),
    (5, 1, 3, np.float64),
    (3, 0, 2, np.float32),
):
    a, b = ramp(m, k, dtype=dtype), ramp(k, n, seed=1, dtype=dtype)
    scale = matmul_scale(a, b)
    want = matmul_spec(a, b)
    try:
        got = expect_unchanged(vectorized_matmul, a, b)
    except (ValueError, IndexError) as error:
        raise CheckFailed(
            f"vectorized_matmul  a ({m}, {k}), b ({k}, {n}): {error}\n"
            f"  likely    a[:, p] * b[p] has the shapes ({m},) and ({n},): no outer product\n"
            "  try       keep the axis: a[:, p:p+1] is a column"
        ) from None
    causes = {
        f"a[:, p] * b[p] has the shapes ({m},) and ({n},): keep the axis, a[:, p:p+1]": lambda: (
            np.tile((a.T * b).sum(axis=0, dtype=a.dtype), (m, 1))
        ),
        "a row of a times a column of b: a[p] and b[:, p] have changed places": lambda: matmul_spec(
            b, a
        ).T.copy(),
        "only the last term is kept: add to out": lambda: a[:, k - 1 :] * b[k - 1 :],
    }
    hint = "(m, 1) times (1, n), added up over p to an out that holds 0 first; an empty sum is 0"
    case = f"a ({m}, {k}), b ({k}, {n})"
    expect_close(got, want, scale=scale, inner=k, likely=causes, hint=hint, case=case)
a, b = ramp(3, 2), ramp(2, 4, seed=1)
scale, out = matmul_scale(a, b), np.full((3, 4), 7.0)
want = matmul_spec(a, b)
for _ in range(2):
    before = out.copy()
    got = vectorized_matmul(a, b, out=out)
    expect_equal(got is out, True, hint="with out= the result is out itself: return it")
    causes = {"the call added to what stood in out: clear it first": lambda: before + want}
    expect_close(out, want, inner=2, scale=scale, likely=causes, hint="out[...] = 0 comes first")
for what, out in bad_outs(a, (3, 4)):
    expect_raises(ValueError, vectorized_matmul, a, b, out, hint=f"out is {what}: ask check_out")
expect_raises(ValueError, vectorized_matmul, ramp(2, 3), ramp(2, 3), hint="check_matmul first")
left, right = remote_array(ramp(3, 4), "a"), remote_array(ramp(4, 5, seed=1), "b")
# Arrays that give single elements alone: operations on whole ones end with an error here.
with contextlib.suppress(Exception):
    vectorized_matmul(left, right)
reads = counts(right).reads
points(
    2 if reads <= 4 * 5 else 0,
    None
    if reads <= 4 * 5
    else f"{reads} single elements of b were read, for a (3, 4) and b (4, 5): that is the product of "
    "02 once more, with loops over i and j. One loop, over p, and in it one operation on whole "
    "arrays",
)

# %% nbgrader={"grade": true, "grade_id": "vectorized_matmul-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("vectorized_matmul-hidden").standard_normal
for m, k, n in ((0, 2, 3), (2, 3, 0), (1, 1, 1), (4, 0, 1), (1, 9, 1), (1, 33, 7), (13, 5, 11)):
    for dtype in (np.float32, np.float64):
        a, b = normal((m, k)).astype(dtype), normal((k, n)).astype(dtype)
        scale = matmul_scale(a, b)
        want = matmul_spec(a, b)
        got = expect_fresh(vectorized_matmul, a, b)
        hint = "any size, both dtypes, a new array"
        expect_close(got, want, scale=scale, inner=k, allow_empty=True, hint=hint)
left, right = normal((3, 5)), normal((5, 4))
scale = matmul_scale(left, right)
want = matmul_spec(left, right)
for (name, a), (_, b) in zip(layouts(left), layouts(right)):
    got = expect_unchanged(vectorized_matmul, a, b)
    expect_close(got, want, inner=5, scale=scale, hint=f"a and b may each be {name}")
whole = np.full((6, 8), 7.0)
out = whole[::2, ::-2]
got = vectorized_matmul(out=out, b=right, a=left)
expect_equal(got is out, True, hint="with out= the result is out itself, also where it is a view")
expect_close(out.copy(), want, inner=5, scale=scale, hint="out may be a view with steps")
expect_equal(whole[1::2], np.full((3, 8), 7.0), hint="what lies between the elements of out stays")
a, b = np.array([[nan, 1], [inf, 1]]), np.array([[1.0, 0.0], [1.0, 2.0]])
want = np.array([[nan, nan], [inf, nan]])
hint = "NaN and infinity follow the arithmetic: skip no term"
expect_close(vectorized_matmul(a, b), want, hint=hint)
a, b = np.array([[0.0, 0.5]]), np.array([[nan, 2.0], [1.0, 3.0]])
expect_close(vectorized_matmul(a, b), np.array([[nan, 1.5]]), hint=hint)
square = normal((4, 4))
scale = matmul_scale(square, square)
want = matmul_spec(square, square)
got = vectorized_matmul(square, square)
expect_close(got, want, inner=4, scale=scale, hint="a and b may be one array")
for out in (square, square.T):
    expect_raises(ValueError, vectorized_matmul, normal((4, 4)), square, out, hint="out is b")
expect_raises(TypeError, vectorized_matmul, square, square.astype(np.float32), hint="mixed dtypes")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "vectorized_matmul-memory", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
m, k, n = 300, 6, 400
a, b = ramp(m, k), ramp(k, n, seed=1)
want = matmul_spec(a, b)
held = claim("peak_bytes", vectorized_matmul, a, b)
c = vectorized_matmul(a, b)
expect_close(c, want, hint="right values first", inner=k)
arrays = held / want.nbytes
a, b = ramp(24, 8000), ramp(8000, 24, seed=1)
long = claim("peak_bytes", vectorized_matmul, a, b)
lavish = None
if arrays > 2.2:
    lavish = (
        f"{held / 1e6:.2f} MB for a result of {want.nbytes / 1e6:.2f} MB, {arrays:.1f} times as "
        f"much: m*k*n elements are {m * k * n * 8 / 1e6:.2f} MB. Add one outer product after the "
        "other to out"
    )
elif long > 4e5:
    lavish = (
        f"{long / 1e6:.2f} MB for a result of 24 x 24, where k is 8000: products of a whole row or "
        "column are held. A turn of the loop over p has one column of a and one row of b"
    )
points(0 if lavish else 1, lavish)

# %% nbgrader={"grade": true, "grade_id": "vectorized_matmul-memory-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("vectorized_matmul-memory-hidden").standard_normal
a, b = normal((400, 7)), normal((7, 300))
scale, out = matmul_scale(a, b), np.full((400, 300), 7.0)
want = matmul_spec(a, b)
held = claim("peak_bytes", vectorized_matmul, a, b, out=out)
vectorized_matmul(a, b, out=out)
expect_close(out, want, inner=7, scale=scale, hint="right values with out=")
long = claim("peak_bytes", vectorized_matmul, normal((20, 9000)), normal((9000, 20)))
frugal = held <= 1.2 * want.nbytes and long <= 4e5
points(
    1 if frugal else 0,
    None if frugal else "with out= one outer product at a time is all the memory it needs",
)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

size = 128
a, b = ramp(size, size), ramp(size, size, seed=1)


def all_products_at_once(a, b):
    """The shortest spelling: every product of the whole matrix product, then the sums."""
    return (a[:, :, None] * b[None, :, :]).sum(axis=1)


def row_by_row(a, b):
    """One row of the result at a time."""
    return np.array([(row[:, None] * b).sum(axis=0) for row in a])


print(f"product of two {size} x {size}          time     GFLOP/s   peak memory")
seen = {}
for name, kernel in (
    ("all products at once", all_products_at_once),
    ("row by row", row_by_row),
    ("vectorized_matmul", vectorized_matmul),
    ("a @ b", np.matmul),
):
    try:
        held = peak_bytes(kernel, a, b)
    except NotImplementedError:
        print(f"{name:24}left out: not written yet")
        continue
    seen[name] = time_call(kernel, a, b, repeats=3).median
    rate = 2 * size**3 / seen[name] / 1e9
    print(f"{name:24}{seen[name] * 1e3:10.3f} ms{rate:10.2f}{held / 1e6:12.2f} MB")
slowest = max(seen, key=seen.get)
print(f"BLAS does it {seen[slowest] / seen['a @ b']:.0f} times as fast as: {slowest}.")

# %% [markdown]
r"""
## Exercise 4: Softmax in one array

You know the formula and its rule from 02, and the rule has not changed:

$$ y_j = \frac{e^{x_j - t}}{\sum_q e^{x_q - t}} \qquad t = \max_q x_q $$

- a row of only $-\infty$ gives zeros;
- a row with NaN or $+\infty$ is all NaN; the other rows do not notice;
- no warning escapes.

Now count arrays. `x - t` is one, `exp` of it is a second, the quotient is a third. Only one of them is the result. Every ufunc takes `out=`, `np.exp(y, out=y)` works in place, and `y /= total` does too: the whole softmax fits into the one array that it returns.

<img alt="Four stacks of arrays that softmax holds at its peak beside the input x. The naive spelling holds three: x - t, its exp and the result. One that computes exp twice holds three as well. One that works in place holds the result alone, and one with out= nothing but two thin columns." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='214' viewBox='0 0 640 214' font-family='sans-serif' font-size='14'><title>Arrays that four spellings hold at their peak</title>
<path d='M40 170h560' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M60 130h90v38h-90zM60 90h90v38h-90zM210 130h90v38h-90zM210 90h90v38h-90zM210 50h90v38h-90z' fill='rgb(230,159,0)'/>
<path d='M60 50h90v38h-90zM360 130h90v38h-90z' fill='rgb(86,180,233)'/>
<path d='M510 164h90v4h-90z' fill='rgb(0,158,115)'/>
<g text-anchor='middle' fill='black'><text x='105' y='154'>x - t</text><text x='105' y='114'>exp(x - t)</text><text x='105' y='74'>y</text><text x='255' y='154'>x - t</text><text x='255' y='114'>exp(x - t)</text><text x='255' y='74'>exp again</text><text x='405' y='154'>y</text></g>
<g text-anchor='middle' fill='rgb(125,125,125)'><text x='105' y='190'>naive</text><text x='255' y='190'>exp twice</text><text x='405' y='190'>in place</text><text x='555' y='190'>out=</text><text x='555' y='138'>a column for t,</text><text x='555' y='156'>one for the sums</text></g>
<g fill='rgb(125,125,125)'><text x='40' y='24'>arrays of the size of x beside x itself</text><text x='40' y='210'>blue: the result, orange: temporaries</text></g>
</svg>">

*Axes.* `x` may have any number of axes and `axis` says which one is the row. `x.max(axis=axis)` *loses* that axis, and then a vector of `m` maxima lines up with the columns of `x`. If `x` is square nothing complains. `keepdims=True` keeps the axis with length 1.

*The rule, without a loop.* In a row of only $-\infty$ the maximum is $-\infty$, and $-\infty - (-\infty)$ is NaN. Take 0 off such a row instead, and its sum is 0 where all others are at least 1. `np.errstate(all="ignore")` keeps NumPy quiet while it works on infinities. The maximum of an empty row needs `initial=-np.inf`.

**Predict.** Your softmax will allocate a third of what the naive one does, or next to nothing with `out=`. Will it take a third of the time?
"""


# %%
def softmax_spec(x, axis=-1):
    """Softmax in float64: each weight is 1 over the sum of exp(other score - own score)."""
    rows = np.moveaxis(x, axis, -1).astype(float)
    weights = np.zeros(rows.shape)
    for place in np.ndindex(rows.shape[:-1]):
        weights[place] = _weights_of(rows[place])
    return np.moveaxis(weights, -1, axis).astype(x.dtype)


def _weights_of(scores):
    if np.isnan(scores).any() or (scores == inf).any():
        return np.full(scores.shape, nan)
    seen = scores > -inf
    weights = np.zeros(scores.shape)
    with np.errstate(over="ignore"):
        gaps = scores[seen] - scores[seen][:, None]
        weights[seen] = 1 / np.exp(gaps).sum(axis=1)
    return weights


# %% jupyter={"source_hidden": true}
# Typical mistakes, and the spelling that most people write first, for messages and measurements.
def softmax_less(x, t, axis=-1):
    """Softmax with any t taken off, be it too small or too large."""
    with np.errstate(all="ignore"):
        powers = np.exp(x - t)
        return powers / powers.sum(axis=axis, keepdims=True)


def softmax_naive(x):
    """Softmax along the last axis as one writes it first: three arrays at the peak."""
    shifted = x - x.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    return powers / powers.sum(axis=-1, keepdims=True)


# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: loops, spec
def softmax(x, axis=-1, out=None):
    """Softmax along one axis.

        y = exp(x - t) / sum of exp(x - t),  t = max of x, both along the axis

    x    : float32 or float64, one axis or more, any stride; not modified
    axis : the axis along which the weights add up to 1
    out  : an array of x's shape and dtype, or None for a new one
    returns out; beside it the call holds no other array of x's size
    raises TypeError and ValueError as check_float_array and check_out

    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN. No warning escapes.
    Taking off the maximum: P. Blanchard, D. J. Higham, N. J. Higham, Accurately computing the
    log-sum-exp and softmax functions, IMA J. Numer. Anal. 41(4), 2021.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, -np.inf]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    # Hint: all steps under np.errstate, each with out= or in place. About 11 lines.
    ### BEGIN SOLUTION
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        np.subtract(x, top, out=out)
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        out /= total
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for x in (
    ramp(4, 4),
    ramp(3, 7).astype(np.float32),
    np.array([[1000.0, 999.0, 0.0], [0.0, 1.0, 2.0]]),
    np.array([[0.0, 1.0], [-1000.0, -1001.0], [5.0, 6.0]]),
    np.array([[-inf, 0, 1], [-inf, -inf, -inf], [0, nan, 1], [inf, 0, 1], [1, 2, 3]]),
    ramp(2, 3, 5),
):
    want = softmax_spec(x)
    try:
        got = expect_unchanged(softmax, x)
    except ValueError as error:
        raise CheckFailed(
            f"softmax  x {x.shape}: {error}\n"
            "  likely    a maximum or a sum has lost its axis, and lines up with the columns\n"
            "  try       keepdims=True"
        ) from None
    top = x.max(axis=-1, keepdims=True)
    row = "of only -inf" if np.isneginf(x).all(axis=-1).any() else ""
    causes = {
        f"a row {row} became NaN. The rule: zeros, quietly": lambda: softmax_less(x, top),
        "no keepdims: a vector of maxima or sums lines up with the columns, silently where x is "
        "square": lambda: softmax_less(x, top.squeeze(-1)),
        "the sums have lost their axis and line up with the columns: keepdims=True": lambda: (
            np.exp(x - top) / np.exp(x - top).sum(axis=-1)
        ),
        "exp(1000) is inf: subtract the row maximum": lambda: softmax_less(x, 0),
        "one maximum for all rows: those far below are 0/0": lambda: softmax_less(x, x.max()),
        "softmax ran down the columns: axis=-1 is the last one": lambda: softmax_spec(x, 0),
    }
    hint = "each row along the last axis is one softmax; the rule for -inf, +inf and NaN holds"
    expect_close(got, want, inner=x.shape[-1], likely=causes, hint=hint)
x = ramp(3, 4)
want, out = softmax_spec(x, 0), np.full((3, 4), 7.0)
got = softmax(x, axis=0, out=out)
expect_equal(got is out, True, hint="with out= the result is out itself: return it")
expect_close(out, want, inner=3, hint="axis=0: each column is one softmax; all of out is filled")
for what, out in bad_outs(x, x.shape):
    expect_raises(ValueError, softmax, x, out=out, hint=f"out is {what}: ask check_out")

# %% nbgrader={"grade": true, "grade_id": "softmax-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
import warnings

normal = rng("softmax-hidden").standard_normal
for shape in ((1,), (5,), (1, 1), (2, 7), (6, 6), (5, 33), (0, 4), (3, 0), (2, 3, 4), (2, 1, 3, 2)):
    for dtype in (np.float32, np.float64):
        x = (3 * normal(shape)).astype(dtype)
        for axis in range(-len(shape), len(shape)):
            want = softmax_spec(x, axis)
            got = expect_fresh(softmax, x, axis)
            hint = "any shape, any axis, both dtypes, a new array; an empty row is no error"
            expect_close(got, want, inner=x.shape[axis], allow_empty=True, hint=hint)
for name, x in layouts(normal((4, 4))):
    for axis in (0, 1):
        want = softmax_spec(x, axis)
        got = expect_unchanged(softmax, x, axis=axis)
        expect_close(got, want, inner=4, hint=f"x may be {name}; leave it as it is")
x = normal((4, 3))
want, whole = softmax_spec(x), np.full((8, 6), 7.0)
out = whole[::-2, ::2]
got = softmax(out=out, x=x)
expect_equal(got is out, True, hint="with out= the result is out itself, also where it is a view")
expect_close(out.copy(), want, inner=3, hint="out may be a view with steps; arguments by name")
expect_equal(whole[::2], np.full((4, 6), 7.0), hint="what lies between the elements of out stays")
x = ramp(4, 9)
want = softmax_spec(x)
for shift in (1e4, -1e4):
    expect_close(softmax(x + shift), want, inner=9, hint="a shifted row has the same softmax")
special = np.array(
    [
        [-inf, -inf],
        [nan, -inf],
        [-inf, nan],
        [inf, -inf],
        [inf, inf],
        [-inf, -1e5],
        [1e5, -1e5],
        [3e38, -3e38],
        [-3e38, -3e38],
        [2, 1],
    ]
)
for x in (special, special.astype(np.float32), special[:1], special[::-1], special[None, 3:]):
    want = softmax_spec(x)
    with warnings.catch_warnings(record=True, action="always") as seen:
        got = softmax(x)
    expect_close(
        got, want, inner=2, allow_nan=True, hint="the rule for -inf, +inf and NaN, row by row"
    )
    assert not [w for w in seen if issubclass(w.category, RuntimeWarning)], "a warning escaped"
for axis in (2, -3):
    expect_raises(ValueError, softmax, normal((2, 3)), axis, hint="no such axis: ValueError")
expect_raises(TypeError, softmax, np.array([[1, 2]]), hint="integers: TypeError from the door")
expect_raises(ValueError, softmax, np.array(1.0), hint="no axis at all: ValueError from the door")
x = normal((4, 3))
expect_raises(ValueError, softmax, x[1:], out=x[:-1], hint="out overlaps the input")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "softmax-memory", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x = ramp(300, 400)
want = softmax_naive(x)
held = claim("peak_bytes", softmax, x)
y = softmax(x)
expect_close(y, want, hint="right values first", inner=400)
arrays = held / x.nbytes
frugal = arrays <= 1.2
points(
    1 if frugal else 0,
    None
    if frugal
    else f"{arrays:.1f} extra arrays, and one is enough: keep it in out, with np.exp(out, out=out)",
)

# %% nbgrader={"grade": true, "grade_id": "softmax-memory-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
x = rng("softmax-memory-hidden").standard_normal((400, 350))
want, out = softmax_naive(x), np.full((400, 350), 7.0)
held = claim("peak_bytes", softmax, x, out=out)
softmax(x, out=out)
expect_close(out, want, inner=400, hint="right values with out=")
frugal = held <= 0.2 * x.nbytes
points(
    1 if frugal else 0,
    None if frugal else "with out= nothing of the size of x is needed: every step can write there",
)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call


def softmax_exp_twice(x):
    """Short, and the most expensive step is done twice."""
    shifted = x - x.max(axis=-1, keepdims=True)
    return np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)


x = np.random.default_rng(4).normal(size=(512, 512))
y = np.empty_like(x)
print("softmax of 512 x 512 float64      time      peak memory")
seen = {}
for name, call in (
    ("naive", partial(softmax_naive, x)),
    ("exp twice", partial(softmax_exp_twice, x)),
    ("softmax(x)", partial(softmax, x)),
    ("softmax(x, out=y)", partial(softmax, x, out=y)),
    ("np.exp(x, out=y) alone", partial(np.exp, x, out=y)),
):
    try:
        held = peak_bytes(call) / x.nbytes
    except NotImplementedError:
        print(f"{name:27}left out: not written yet")
        continue
    seen[name] = time_call(call).median, held
    print(f"{name:27}{seen[name][0] * 1e3:9.3f} ms{held:10.2f} arrays")
if "softmax(x, out=y)" in seen:
    slow, fast = seen["naive"], seen["softmax(x, out=y)"]
    alone = seen["np.exp(x, out=y) alone"][0]
    print(
        f"Memory went down {slow[1] / max(fast[1], 1e-9):.0f}-fold, time to "
        f"{100 * fast[0] / slow[0]:.0f} %.\nexp alone is {100 * alone / fast[0]:.0f} % of what "
        "is left; the rest is passes over memory."
    )

# %% [markdown]
r"""
## Exercise 5: Layer norm in one array

$$ y_j = \gamma_j \, \frac{x_j - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_j \qquad \mu = \frac1n\sum_j x_j \qquad \sigma^2 = \frac1n\sum_j (x_j - \mu)^2 $$

The same game with a harder piece, the variance. `x.var()` is off limits: it forms `x - mean` inside, in an array of its own, and you need the deviations anyway. So put them into `out` first. The sum of their squares needs no further array either, since `np.einsum` multiplies and adds in one go:

    np.einsum("...i,...i->...", d, d)          sum of d*d along the last axis, one number a row

*Digits.* A float32 has 24 bits. Around a million neighbouring float32 numbers lie 1/16 apart, so a mean that is rounded to float32 can be off by half of that. The error goes into *every* deviation of the row. And `1e20 * 1e20` does not fit into float32 at all. So the two statistics, one number a row each, are kept in float64: `x.sum(..., dtype=np.float64)` and `np.einsum(..., dtype=np.float64)` read float32 and add up in float64. `out` stays in the dtype of `x`.

*Division by nothing.* `x.mean()` of an empty row warns. `x.sum() / max(n, 1)` does not.

**Predict.** For float32, is it free to keep the statistics in float64? They are only one number a row.
"""


# %%
def layernorm_spec(x, gamma, beta, eps=1e-5):
    """Layer norm with mean and variance as exact fractions (module statistics)."""
    rows = [x[place].tolist() for place in np.ndindex(x.shape[:-1])]
    unit = np.array([_normed_row(row, eps) for row in rows]).reshape(x.shape)
    scaled = unit * gamma.astype(float) + beta.astype(float)
    return scaled.astype(x.dtype)


def _normed_row(row, eps):
    if not row or not all(map(math.isfinite, row)):
        return [nan] * len(row)
    exact = [Fraction(v) for v in row]
    centre = statistics.mean(exact)
    root = math.sqrt(statistics.pvariance(exact, centre) + Fraction(eps))
    return [float(v - centre) / root for v in exact]


# %% jupyter={"source_hidden": true}
# Typical mistakes, and the spelling that most people write first, for messages and measurements.
def layernorm_over(x, gamma, beta, root, mean=None):
    """Layer norm that divides each row by `root`, right or wrong, around any mean."""
    wide = x.astype(float)
    mean = wide.mean(axis=-1, keepdims=True) if mean is None else mean
    return ((wide - mean) / root * gamma + beta).astype(x.dtype)


def shortcut_variance(x):
    """The mean of the squares less the square of the mean, in x's dtype."""
    return (x * x).mean(axis=-1, keepdims=True) - x.mean(axis=-1, keepdims=True) ** 2


def layernorm_naive(x, gamma, beta, eps=1e-5):
    """Layer norm as one writes it first: statistics in x's dtype, an array for each step."""
    variance = x.var(axis=-1, keepdims=True)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + eps) + beta


# %% nbgrader={"grade": false, "grade_id": "layernorm", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: loops, var, spec
def layernorm(x, gamma, beta, eps=1e-5, out=None):
    """Layer normalisation along the last axis, then a scale and a shift for each column.

        y = gamma * (x - mean) / sqrt(var + eps) + beta
        mean = sum of x / n,  var = sum of (x - mean)**2 / n, both along the last axis

    x     : (..., n) float32 or float64, any stride; not modified; x - mean must fit into its dtype
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    out   : an array of x's shape and dtype, or None for a new one
    returns out; beside it the call holds no other array of x's size; mean and var are kept in
        float64; n = 0 gives an empty array
    raises TypeError and ValueError as check_float_array and check_out, ValueError also for a
        gamma or beta that is not (n,), with its name in the message, and for eps that is not > 0

    A row that holds NaN or an infinity is all NaN. No warning escapes. J. L. Ba, J. R. Kiros,
    G. E. Hinton, Layer Normalization, arXiv:1607.06450.

    >>> layernorm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    # Hint: check gamma and beta one after the other; deviations in out, then all in place. About
    #   16 lines.
    ### BEGIN SOLUTION
    n = check_float_array("x", x, ndim=None)[-1]
    if check_float_array("gamma", gamma, ndim=1, dtype=x.dtype) != (n,):
        raise ValueError(f"gamma has shape {gamma.shape}, but the rows of x have {n} elements")
    if check_float_array("beta", beta, ndim=1, dtype=x.dtype) != (n,):
        raise ValueError(f"beta has shape {beta.shape}, but the rows of x have {n} elements")
    if not eps > 0:
        raise ValueError(f"eps must be greater than 0, not {eps}")
    out = check_out(out, x.shape, x, gamma, beta)
    with np.errstate(all="ignore"):
        mean = x.sum(axis=-1, keepdims=True, dtype=np.float64) / max(n, 1)
        np.subtract(x, mean, out=out)
        squares = np.einsum("...i,...i->...", out, out, dtype=np.float64)
        out /= np.sqrt(squares[..., None] / max(n, 1) + eps)
        out *= gamma
        out += beta
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "layernorm-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for shape, offset, eps, dtype in (
    ((3, 5), 0, 1e-5, np.float64),
    ((2, 2, 3), 0, 0.5, np.float32),
    ((2, 1), 0, 1e-5, np.float64),
    ((2, 7), 1e4, 1e-5, np.float32),
    ((2, 7), 1e6, 1e-5, np.float32),
):
    x, n = (ramp(*shape) + offset).astype(dtype), shape[-1]
    gamma, beta = ramp(n, seed=2, dtype=dtype), ramp(n, seed=3, dtype=dtype)
    want = layernorm_spec(x, gamma, beta, eps)
    got = expect_unchanged(layernorm, x, gamma, beta, eps)
    variance = x.astype(float).var(axis=-1, keepdims=True)
    sample, shortcut = variance * n / max(n - 1, 1), shortcut_variance(x)
    rounded = x.mean(axis=-1, keepdims=True)
    normed = partial(layernorm_over, x, gamma, beta)
    plain = partial(layernorm_over, x, np.ones(n), np.zeros(n))
    causes = {
        "eps stands outside the root: eps inside the root": lambda: normed(np.sqrt(variance) + eps),
        "the variance is divided by n - 1, not by n": lambda: normed(np.sqrt(sample + eps)),
        "gamma and beta are not used": lambda: plain(np.sqrt(variance + eps)),
        f"cancellation: the mean of x*x less the squared mean came out as {shortcut.min():g}, a "
        f"negative variance or a wrong one at offset {offset:g}": lambda: (
            (x - rounded) / np.sqrt(shortcut + eps) * gamma + beta
        ),
        "the mean was rounded to float32, and every deviation is off by that": lambda: normed(
            np.sqrt(((x - rounded) ** 2).mean(axis=-1, keepdims=True) + eps), rounded
        ),
    }
    hint = "mean first, with dtype=np.float64; then the deviations in out; then their squares"
    case = f"x {shape} {np.dtype(dtype).name} around {offset:,.0f}, eps={eps}"
    expect_close(got, want, inner=n, scale=10, likely=causes, hint=hint, case=case)
x, ones, zeros = ramp(2, 4), np.ones(4), np.zeros(4)
want, out = layernorm_spec(x, ones, zeros), np.full((2, 4), 7.0)
got = layernorm(x, ones, zeros, out=out)
expect_equal(got is out, True, hint="with out= the result is out itself: return it")
expect_close(out, want, inner=4, scale=10, hint="all of out is filled, whatever stood in it")
for what, out in bad_outs(x, x.shape):
    expect_raises(ValueError, layernorm, x, ones, zeros, out=out, hint=f"out is {what}: check_out")
for short in (np.ones(1), np.ones(3)):
    expect_raises(
        ValueError,
        layernorm,
        x,
        short,
        zeros,
        match="gamma",
        hint="gamma must be (n,): one element would be stretched over the row without a word",
    )
expect_raises(ValueError, layernorm, x, ones, zeros, 0.0, hint="eps must be > 0")

# %% nbgrader={"grade": true, "grade_id": "layernorm-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
import warnings

normal = rng("layernorm-hidden").standard_normal
for shape in ((4,), (1, 1), (2, 7), (5, 5), (3, 33), (0, 4), (3, 0), (2, 3, 4), (2, 1, 2, 3)):
    for dtype in (np.float32, np.float64):
        n = shape[-1]
        x, gamma, beta = (normal(size).astype(dtype) for size in (shape, n, n))
        want = layernorm_spec(x, gamma, beta)
        with warnings.catch_warnings(record=True, action="always") as seen:
            got = expect_fresh(layernorm, x, gamma, beta)
        hint = "any shape, both dtypes, a new array; an empty row is no error"
        expect_close(got, want, inner=n + 1, scale=20, allow_empty=True, hint=hint)
        assert not [w for w in seen if issubclass(w.category, RuntimeWarning)], "a warning escaped"
x, gamma, beta = normal((4, 4)), normal(4), normal(4)
want = layernorm_spec(x, gamma, beta)
for name, view in layouts(x):
    got = expect_unchanged(layernorm, view, gamma, beta)
    expect_close(got, want, inner=4, scale=20, hint=f"x may be {name}; leave it as it is")
want, whole = layernorm_spec(x, gamma, beta, 0.25), np.full((8, 8), 7.0)
out = whole[::-2, 1::2]
got = layernorm(out=out, beta=beta[::-1].copy()[::-1], gamma=gamma, x=x, eps=0.25)
expect_equal(got is out, True, hint="with out= the result is out itself, also where it is a view")
expect_close(out.copy(), want, inner=4, scale=20, hint="out may be a view; arguments by name")
expect_equal(whole[::2], np.full((4, 8), 7.0), hint="what lies between the elements of out stays")
for offset in (1e4, 1e6, -1e6):
    x = ramp(3, 5) + offset
    gamma, beta = normal(5), normal(5)
    want = layernorm_spec(x, gamma, beta)
    got = layernorm(x, gamma, beta)
    hint = "rows far from 0: the deviations first, then their squares"
    expect_close(got, want, inner=5, scale=20 * abs(offset), hint=hint)
    x, gamma, beta = (v.astype(np.float32) for v in (x, gamma, beta))
    hint = "float32 rows far from 0: keep the mean in float64"
    want = layernorm_spec(x, gamma, beta)
    expect_close(layernorm(x, gamma, beta), want, inner=5, scale=20, hint=hint)
for level in (0.1, 1234.0, -1e6):
    gamma, shift = np.ones(7, np.float32), ramp(7, dtype=np.float32)
    x = np.full((2, 7), level, np.float32)
    hint = "a constant row is beta: no deviation, no NaN"
    want = layernorm_spec(x, gamma, shift)
    expect_close(layernorm(x, gamma, shift), want, scale=1, hint=hint)
x = np.array([[1e20, -1e20, 0, 0], [1, nan, 2, 3], [inf, 0, 0, 0], [1, 2, 3, 4]], np.float32)
unit, none = np.ones(4, np.float32), np.zeros(4, np.float32)
want = layernorm_spec(x, unit, none)
with warnings.catch_warnings(record=True, action="always") as seen:
    got = layernorm(x, unit, none)
hint = "squares of float32 are added up in float64; NaN and inf stay in their row"
expect_close(got, want, inner=4, hint=hint)
assert not [w for w in seen if issubclass(w.category, RuntimeWarning)], "a warning escaped"
for eps in (0, -1e-5, nan):
    expect_raises(ValueError, layernorm, x, unit, none, eps, hint="eps that is not > 0")
for short in (np.zeros(5, np.float32), np.zeros((1, 4), np.float32), np.zeros(1, np.float32)):
    expect_raises(ValueError, layernorm, x, unit, short, match="beta", hint="beta that is not (n,)")
for out in (np.stack([unit, unit]), np.stack([none, none])):
    vectors = (out[0], none) if out[0, 0] else (unit, out[1])
    expect_raises(
        ValueError, layernorm, x[:2], *vectors, out=out, hint="out overlaps gamma or beta"
    )
expect_raises(ValueError, layernorm, np.array(1.0), np.ones(1), np.ones(1), hint="x has no axis")
expect_raises(TypeError, layernorm, x, unit.astype(float), none, hint="mixed dtypes: TypeError")
expect_raises(TypeError, layernorm, x, unit, none.astype(float), hint="mixed dtypes: TypeError")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "layernorm-memory", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x, gamma, beta = ramp(300, 400), ramp(400, seed=2), ramp(400, seed=3)
want = layernorm_naive(x, gamma, beta)
held = claim("peak_bytes", layernorm, x, gamma, beta)
y = layernorm(x, gamma, beta)
expect_close(y, want, hint="right values first", inner=400)
arrays = held / x.nbytes
frugal = arrays <= 1.2
points(
    1 if frugal else 0,
    None
    if frugal
    else f"{arrays:.1f} extra arrays, and one is enough: keep the deviations in out, and square "
    "them with einsum",
)

# %% nbgrader={"grade": true, "grade_id": "layernorm-memory-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("layernorm-memory-hidden").standard_normal
x, gamma, beta = normal((400, 350)), normal(350), normal(350)
want, out = layernorm_naive(x, gamma, beta), np.full((400, 350), 7.0)
held = claim("peak_bytes", layernorm, x, gamma, beta, out=out)
layernorm(x, gamma, beta, out=out)
expect_close(out, want, inner=400, hint="right values with out=")
frugal = held <= 0.2 * x.nbytes
points(
    1 if frugal else 0,
    None if frugal else "with out= nothing of the size of x is needed: every step can write there",
)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

print("layer norm of 512 x 512                    time      peak memory      error at 1e6")
for dtype in (np.float64, np.float32):
    x = np.random.default_rng(5).normal(size=(512, 512)).astype(dtype)
    gamma, beta, y = np.ones(512, dtype), np.zeros(512, dtype), np.empty_like(x)
    far = (np.sin(np.arange(1024.0)).reshape(2, 512) + 1e6).astype(dtype)
    exact = layernorm_spec(far, gamma, beta)
    for name, kernel in (
        ("naive", layernorm_naive),
        ("layernorm(x, ..., out=y)", partial(layernorm, out=y)),
    ):
        try:
            held = peak_bytes(kernel, x, gamma, beta) / x.nbytes
        except NotImplementedError:
            print(f"{np.dtype(dtype).name} {name:28}left out: not written yet")
            continue
        result = kernel(far, gamma, beta) if name == "naive" else layernorm(far, gamma, beta)
        error = np.max(np.abs(result - exact))
        seconds = time_call(kernel, x, gamma, beta).median
        print(
            f"{np.dtype(dtype).name} {name:28}{seconds * 1e3:8.3f} ms{held:10.2f} arrays"
            f"{error:18.1e}"
        )
print("A ufunc that mixes float32 and float64 works in float64, through a small buffer:")
print("that is what the statistics cost in float32; the last column says what they buy.")

# %% [markdown]
"""
## One strip of memory, many arrays

An array is a strip of bytes plus three things: where it begins, its *shape*, and its *strides*, how many bytes to go for one step along each axis. `x[i, j]` lies at `begin + i*strides[0] + j*strides[1]`. Change the shape and the strides, and you have another array on the same strip. Nothing is copied.

<img alt="One strip of twelve memory cells, numbered 0 to 11, drawn four times. As 3 rows of 4, one step along a row goes to the next cell and one step down goes four cells on. Column 1 takes cells 1, 5 and 9. The transpose has the two steps exchanged. In sliding windows of 3, a step inside the window and a step to the next window are both one cell, so that windows overlap." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='262' viewBox='0 0 640 262' font-family='sans-serif' font-size='14'><title>Four arrays on one strip</title>
<path d='M200 24h136v28h-136z' fill='rgb(86,180,233)'/><path d='M234 88h34v28h-34zM370 88h34v28h-34zM506 88h34v28h-34z' fill='rgb(230,159,0)'/><path d='M200 152h34v28h-34zM336 152h34v28h-34zM472 152h34v28h-34z' fill='rgb(0,158,115)'/><path d='M200 216h102v28h-102z' fill='rgb(204,121,167)'/>
<path d='M200 24h408v28h-408zM234 24v28M268 24v28M302 24v28M336 24v28M370 24v28M404 24v28M438 24v28M472 24v28M506 24v28M540 24v28M574 24v28M200 88h408v28h-408zM234 88v28M268 88v28M302 88v28M336 88v28M370 88v28M404 88v28M438 88v28M472 88v28M506 88v28M540 88v28M574 88v28M200 152h408v28h-408zM234 152v28M268 152v28M302 152v28M336 152v28M370 152v28M404 152v28M438 152v28M472 152v28M506 152v28M540 152v28M574 152v28M200 216h408v28h-408zM234 216v28M268 216v28M302 216v28M336 216v28M370 216v28M404 216v28M438 216v28M472 216v28M506 216v28M540 216v28M574 216v28' fill='none' stroke='rgb(125,125,125)'/>
<path d='M251 86v-10h136v8m-5 -6l5 6l5 -6M387 86v-10h136v8m-5 -6l5 6l5 -6M217 150v-10h136v8m-5 -6l5 6l5 -6M353 150v-10h136v8m-5 -6l5 6l5 -6' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M234 248h102M234 248v-4M336 248v-4M268 256h102M268 256v-4M370 256v-4' fill='none' stroke='rgb(204,121,167)' stroke-width='3'/>
<g fill='rgb(125,125,125)'><text x='4' y='36'>x, shape (3, 4)</text><text x='4' y='54' font-size='12'>strides (4, 1): row 0</text><text x='4' y='100'>x[:, 1], shape (3,)</text><text x='4' y='118' font-size='12'>stride 4: column 1</text><text x='4' y='164'>x.T, shape (4, 3)</text><text x='4' y='182' font-size='12'>strides (1, 4): its row 0</text><text x='4' y='228'>windows of 3</text><text x='4' y='246' font-size='12'>strides (1, 1): they overlap</text><text x='200' y='16' font-size='12'>cells of memory; strides are counted in elements here, NumPy counts bytes</text></g>
<g text-anchor='middle' font-size='12' fill='black'><text x='217' y='43'>0</text><text x='251' y='43'>1</text><text x='285' y='43'>2</text><text x='319' y='43'>3</text><text x='251' y='107'>1</text><text x='387' y='107'>5</text><text x='523' y='107'>9</text><text x='217' y='171'>0</text><text x='353' y='171'>4</text><text x='489' y='171'>8</text><text x='217' y='235'>0</text><text x='251' y='235'>1</text><text x='285' y='235'>2</text></g>
</svg>">

`reshape` gives a view whenever *some* strides can walk the same cells in the new order, and copies when none can.

**Predict.** The next cell prints ten expressions on a 6 x 8 array. Before you run it, write "copy" or "view" beside each: `x[2]`, `x[:, 3]`, `x[::2, ::-1]`, `x.T`, `x.reshape(48)`, `x.T.reshape(48)`, `x[:, :4].reshape(24)`, `x[[0, 2]]`, `x.ravel()`, `x + 0`.
"""

# %% tags=["raises-exception"]
#| measure
x = np.arange(48.0).reshape(6, 8)
views = 0
print(f"{'x':22}{x.shape!s:10}{x.strides!s:12}")
for text, y in {
    "x[2]": x[2],
    "x[:, 3]": x[:, 3],
    "x[::2, ::-1]": x[::2, ::-1],
    "x.T": x.T,
    "x.reshape(48)": x.reshape(48),
    "x.T.reshape(48)": x.T.reshape(48),
    "x[:, :4].reshape(24)": x[:, :4].reshape(24),
    "x[[0, 2]]": x[[0, 2]],
    "x.ravel()": x.ravel(),
    "x + 0": x + 0,
}.items():
    view = np.shares_memory(x, y)
    views += view
    print(f"{text:22}{y.shape!s:10}{y.strides!s:12}{'view' if view else 'copy'}")
print(f"{views} of the ten are views. Strides are in bytes: an element has {x.itemsize}.")

# %% [markdown]
"""
## Exercise 6: im2col

A convolution takes one sum of products at each place of a window. Lay what the window sees at one place into a *column*, do so for all places, and the convolution has become a matrix product: one row of weights for each filter times one column for each place. The layout is called *im2col*.

<img alt="An image of 3 by 4 pixels with two windows of 2 by 2 marked on it, the first at the left top and the last at the right bottom. An arrow leads to a matrix of 4 rows and 6 columns. The first column holds the pixels of the first window from top to bottom, the last column those of the last window." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='560' height='190' viewBox='0 0 560 190' font-family='sans-serif' font-size='14'><title>Windows become columns</title>
<path d='M10 44h72v72h-72z' fill='rgb(86,180,233)'/><path d='M82 80h72v72h-72z' fill='rgb(230,159,0)'/><path d='M290 26h36v144h-36z' fill='rgb(86,180,233)'/><path d='M470 26h36v144h-36z' fill='rgb(230,159,0)'/>
<path d='M10 44h144v108h-144zM10 80h144M10 116h144M46 44v108M82 44v108M118 44v108M290 26h216v144h-216zM290 62h216M290 98h216M290 134h216M326 26v144M362 26v144M398 26v144M434 26v144M470 26v144' fill='none' stroke='rgb(125,125,125)'/>
<path d='M176 98h60m-8 -6l8 6l-8 6' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g text-anchor='middle' fill='black'><text x='28' y='67'>a</text><text x='64' y='67'>b</text><text x='28' y='103'>e</text><text x='64' y='103'>f</text><text x='100' y='103'>g</text><text x='136' y='103'>h</text><text x='100' y='139'>k</text><text x='136' y='139'>l</text><text x='308' y='49'>a</text><text x='308' y='85'>b</text><text x='308' y='121'>e</text><text x='308' y='157'>f</text><text x='488' y='49'>g</text><text x='488' y='85'>h</text><text x='488' y='121'>k</text><text x='488' y='157'>l</text></g>
<g fill='rgb(125,125,125)'><g text-anchor='middle'><text x='100' y='67'>c</text><text x='136' y='67'>d</text><text x='28' y='139'>i</text><text x='64' y='139'>j</text><text x='344' y='49'>b</text><text x='344' y='85'>c</text><text x='344' y='121'>f</text><text x='344' y='157'>g</text><text x='380' y='49'>c</text><text x='380' y='85'>d</text><text x='380' y='121'>g</text><text x='380' y='157'>h</text><text x='416' y='49'>e</text><text x='416' y='85'>f</text><text x='416' y='121'>i</text><text x='416' y='157'>j</text><text x='452' y='49'>f</text><text x='452' y='85'>g</text><text x='452' y='121'>j</text><text x='452' y='157'>k</text></g><text x='10' y='24'>image, windows of 2 x 2</text><text x='290' y='16'>one column a window: 4 rows, 6 columns</text></g>
</svg>">

`sliding_window_view(image, (r, s), axis=(1, 2))` makes all windows at once by strides alone: from `(c, height, width)` comes a view of the shape `(c, rows, columns, r, s)`. Its elements overlap in memory, as in the last strip above, and it is read-only for that reason.

What is left: bring the axes into the order `c, r, s, rows, columns`, copy *once*, and give the copy the shape `(c*r*s, rows*columns)`. The rows must be in the order `c, r, s`, since that is how the weights `(o, c, r, s)` will be flattened.

**Predict.** `x` has 3 channels of 32 x 32, windows are 3 x 3, padding 1. How many times as much memory as `x` does the result take?
"""


# %%
def im2col_spec(x, r, s, padding=0):
    """Entry by entry: which pixel of the padded image stands there."""
    padded = np.pad(x, [(0, 0)] + 2 * [(padding, padding)])
    high, wide = padded.shape[1] - r + 1, padded.shape[2] - s + 1
    entries = [
        [padded[q, i + u, j + v] for i in range(high) for j in range(wide)]
        for q in range(len(x))
        for u in range(r)
        for v in range(s)
    ]
    return np.array(entries, x.dtype).reshape(len(x) * r * s, high * wide)


# %% nbgrader={"grade": false, "grade_id": "im2col", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def im2col(x, r, s, padding=0):
    """Every window of an image as a column.

        result[(q*r + u)*s + v, i*columns + j] = x[q, i + u - padding, j + v - padding]

    with 0 where the index lies outside the image.

    x       : (c, height, width) float32 or float64, any stride; not modified
    r, s    : rows and columns of the window, int >= 1
    padding : int >= 0, zeros on each of the four sides
    returns (c*r*s, rows*columns) of x's dtype, a new C-contiguous writeable array, with
        rows = height + 2*padding - r + 1 and columns = width + 2*padding - s + 1
    raises TypeError and ValueError as check_float_array and check_count, ValueError also for a
        window larger than the padded image

    K. Chellapilla, S. Puri, P. Simard, High Performance Convolutional Neural Networks for
    Document Processing, 2006.

    >>> im2col(np.array([[[1.0, 2.0, 3.0, 4.0]]]), r=1, s=2)
    array([[1., 2., 3.],
           [2., 3., 4.]])
    """
    # Hint: np.pad, sliding_window_view, transpose, copy, reshape. About 11 lines.
    ### BEGIN SOLUTION
    c, height, width = check_float_array("x", x, ndim=3)
    r, s = check_count("r", r), check_count("s", s)
    padding = check_count("padding", padding, minimum=0)
    rows, columns = height + 2 * padding - r + 1, width + 2 * padding - s + 1
    if min(rows, columns) < 1:
        raise ValueError(f"a window of {r} x {s} does not fit into x {x.shape}, padding {padding}")
    padded = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(padded, (r, s), axis=(1, 2))
    ordered = windows.transpose(0, 3, 4, 1, 2).copy()
    return ordered.reshape(c * r * s, rows * columns)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "im2col-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for image, r, s, padding, dtype in (
    ((1, 3, 3), 2, 2, 0, np.float64),
    ((2, 4, 3), 2, 2, 0, np.float32),
    ((2, 3, 4), 2, 3, 1, np.float64),
    ((3, 2, 2), 1, 1, 0, np.float32),
    ((1, 1, 6), 1, 3, 0, np.float64),
):
    x = ramp(*image, dtype=dtype) + 4
    want = im2col_spec(x, r, s, padding)
    got = expect_unchanged(im2col, x, r, s, padding)
    c, taps = image[0], r * s
    blocks = want.reshape(c, taps, -1)
    turned = want.reshape(c, r, s, -1)
    near = np.pad(x, ((0, 0), (padding, 0), (padding, 0)))
    places = (image[1] + 2 * padding - r + 1, image[2] + 2 * padding - s + 1)
    causes = {
        "rows in the order r, s, c: the weights are reshaped to (o, c*r*s), use the same order": (
            lambda: blocks.transpose(1, 0, 2).reshape(want.shape)
        ),
        "rows in the order c, s, r: u comes before v": lambda: turned.transpose(0, 2, 1, 3).reshape(
            want.shape
        ),
        "columns run down the image: j is the last index": lambda: (
            want.reshape(-1, *places).transpose(0, 2, 1).reshape(want.shape)
        ),
        "it is transposed: a window is a column": lambda: want.T,
        "the zeros are missing on the far sides": lambda: im2col_spec(near, r, s),
        "the windows were made before the padding: the border columns are missing": lambda: (
            im2col_spec(x, r, s)
        ),
    }
    hint = "pad first, then windows; rows in the order c, r, s, one column for each place"
    case = f"x {image}, r={r}, s={s}, padding={padding}"
    expect_equal(got, want, likely=causes, hint=hint, case=case)
    kept = got.flags.c_contiguous and got.flags.writeable
    if not kept:
        raise CheckFailed(
            f"im2col  {case}: the result is not contiguous or read-only\n"
            "  likely    it is the view of the windows itself: elements share one address\n"
            "  try       copy the ordered windows once, whatever reshape does"
        )
x = ramp(2, 3, 4)
for r, s in ((4, 1), (1, 5)):
    expect_raises(ValueError, im2col, x, r, s, hint="the window must fit into the padded image")
expect_raises(ValueError, im2col, x, 0, 1, match="r", hint="a window has a row at least")
expect_raises(TypeError, im2col, x, 2, 2, 1.0, match="padding", hint="check_count, minimum=0")

# %% nbgrader={"grade": true, "grade_id": "im2col-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("im2col-hidden").standard_normal
for image, r, s, padding in (
    ((1, 1, 1), 1, 1, 0),
    ((2, 4, 7), 3, 2, 0),
    ((3, 5, 4), 2, 3, 2),
    ((1, 7, 3), 7, 3, 0),
    ((2, 2, 5), 4, 1, 1),
    ((0, 3, 4), 2, 2, 1),
    ((1, 0, 2), 2, 1, 1),
    ((2, 1, 1), np.int16(3), np.int64(2), np.uint8(1)),
):
    for dtype in (np.float32, np.float64):
        x = normal(image).astype(dtype)
        want = im2col_spec(x, r, s, padding)
        got = expect_fresh(im2col, x, r, s, padding)
        hint = "any size, also windows that are not square; both dtypes; a new array"
        expect_equal(got, want, allow_empty=True, hint=hint)
        if not (got.flags.c_contiguous and got.flags.writeable):
            raise CheckFailed("the result is a contiguous, writeable array, whatever the sizes")
image = normal((2, 4, 3))
want = im2col_spec(image, 2, 2, 1)
for name, x in layouts(image):
    got = expect_unchanged(im2col, padding=1, s=2, r=2, x=x)
    expect_equal(got, want, hint=f"x may be {name}; arguments by name")
x = np.array([[[1, nan], [inf, -2]]])
want = im2col_spec(x, 2, 1, 1)
expect_equal(im2col(x, 2, 1, 1), want, hint="NaN and infinity are copied like any number")
x = normal((2, 3, 4))
for r, s, padding in ((6, 1, 1), (1, 7, 1), (4, 4, 0), (-1, 1, 0), (1, 0, 1), (1, 1, -1)):
    expect_raises(ValueError, im2col, x, r, s, padding, hint="sizes that do not fit: ValueError")
for r, s, padding in ((2.0, 1, 0), (1, True, 0), (1, 1, "0")):
    expect_raises(TypeError, im2col, x, r, s, padding, hint="no whole number: TypeError")
for bad in (normal((3, 4)), normal((1, 2, 3, 4))):
    expect_raises(ValueError, im2col, bad, 1, 1, hint="x has three axes")
expect_raises(TypeError, im2col, np.ones((1, 2, 2), int), 1, 1, hint="integers: TypeError")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

x = ramp(3, 32, 32)
print("windows      windows made      im2col      copied")
for r in (1, 3, 5):
    views = time_call(sliding_window_view, x, (r, r), axis=(1, 2)).median
    try:
        laid_out = im2col(x, r, r, r // 2)
    except NotImplementedError:
        print("left out: not written yet")
        break
    seconds = time_call(im2col, x, r, r, r // 2).median
    share = laid_out.nbytes / x.nbytes
    print(f"{r} x {r}{views * 1e6:18.1f} us{seconds * 1e6:11.1f} us{share:9.1f} times x")
else:
    print(
        f"The view of all windows costs {views * 1e6:.0f} us at any size. The copy is what you pay."
    )

# %% [markdown]
"""
## Exercise 7: Convolution as one matrix product

    weights  (o, c*r*s)    times    columns  (c*r*s, rows*columns)    is    (o, rows*columns)

Everything is there: `im2col` for the columns, `matmul_baseline` for the product, and two calls of `reshape` that copy nothing. The work is the same as in the loops of 02, multiply-add by multiply-add. Now a BLAS does it.

One of the points is for speed. The cell that earns it runs your function and a convolution in Python loops on new images, in turn, and compares their CPU time: half the point from 4 times as fast, all of it from 13 times.

**Predict.** How much faster than the loops will it be for 3 channels of 16 x 16 and 4 filters of 3 x 3? Write down a number: the speed cell prints the answer. And where does the time go then: into `im2col` or into the product?
"""


# %%
def conv2d_spec(x, w, padding=0):
    """In float64: for each weight one shifted image, added to the result of its filter."""
    r, s = w.shape[2:]
    padded = np.pad(x.astype(float), [(0, 0)] + 2 * [(padding, padding)])
    rows, columns = padded.shape[1] - r + 1, padded.shape[2] - s + 1
    result = np.zeros((len(w), rows, columns))
    for (f, q, u, v), weight in np.ndenumerate(w.astype(float)):
        result[f] += weight * padded[q, u : u + rows, v : v + columns]
    return result.astype(x.dtype)


def conv2d_scale(x, w, padding=0):
    """The terms of each sum added up without their signs: the scale of its rounding errors."""
    return conv2d_spec(np.abs(x), np.abs(w), padding)


def conv2d_slow(x, w, padding=0):
    """In Python loops: one window after the other, its sum in Python's own arithmetic."""
    padded = np.pad(x, [(0, 0)] + 2 * [(padding, padding)])
    result = np.zeros_like(conv2d_spec(x, w, padding))
    for place in np.ndindex(*result.shape):
        f, i, j = place
        window = padded[:, i : i + w.shape[2], j : j + w.shape[3]]
        result[place] = sum(map(operator.mul, window.ravel().tolist(), w[f].ravel().tolist()))
    return result


# %% nbgrader={"grade": false, "grade_id": "conv2d_im2col", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def conv2d_im2col(x, w, padding=0):
    """Convolution of an image with a bank of filters, as one matrix product.

        y[f, i, j] = sum over q, u, v of x[q, i + u - padding, j + v - padding] * w[f, q, u, v]

    where terms whose index lies outside the image are left out (cross-correlation: no flip).

    x       : (c, height, width) float32 or float64, any stride; not modified
    w       : (o, c, r, s), the dtype of x; r, s >= 1; not modified
    padding : int >= 0, zeros on each of the four sides
    returns (o, height + 2*padding - r + 1, width + 2*padding - s + 1) of x's dtype, a new array
    raises TypeError and ValueError as check_float_array and im2col, ValueError also for another
        number of channels; its message names both numbers

    >>> conv2d_im2col(np.array([[[1.0, 2.0, 4.0]]]), np.array([[[[-1.0, 1.0]]]]))
    array([[[1., 2.]]])
    """
    # Hint: reshape (no -1: o may be 0), im2col, matmul_baseline, reshape. About 9 lines.
    ### BEGIN SOLUTION
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    columns = im2col(x, r, s, padding)
    y = matmul_baseline(w.reshape(o, c * r * s), columns)
    return y.reshape(o, height + 2 * padding - r + 1, width + 2 * padding - s + 1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "conv2d_im2col-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for image, bank, padding, dtype in (
    ((2, 3, 3), (2, 2, 2, 2), 0, np.float64),
    ((2, 3, 4), (3, 2, 2, 3), 1, np.float32),
    ((3, 5, 2), (2, 3, 1, 1), 0, np.float64),
    ((1, 2, 3), (1, 1, 2, 2), 2, np.float32),
):
    x, w = ramp(*image, dtype=dtype), ramp(*bank, seed=1, dtype=dtype)
    scale = conv2d_scale(x, w, padding)
    want = conv2d_spec(x, w, padding)
    got = expect_unchanged(conv2d_im2col, x, w, padding)
    spec, o, terms = conv2d_spec, bank[0], math.prod(bank[1:])
    mixed = w.reshape(-1, o).T.reshape(bank)
    turned = want.transpose(0, 2, 1).reshape(want.shape)
    causes = {
        "w was transposed before the reshape: channels and taps are mixed": lambda: spec(
            x, w.T.reshape(bank), padding
        ),
        "w was reshaped to (c*r*s, o): channels and taps are mixed": lambda: spec(
            x, mixed, padding
        ),
        "the window is flipped: w[u, v] meets x[i + u, j + v]": lambda: spec(
            x, w[:, :, ::-1, ::-1], padding
        ),
        "rows and columns have changed places in the last reshape": lambda: turned,
    }
    hint = "(o, c*r*s) times (c*r*s, rows*columns), then (o, rows, columns)"
    case = f"x {image}, w {bank}, padding={padding}"
    if type(got) is np.ndarray and want.shape != got.shape == (o, *want.shape[:0:-1]):
        hint = (
            "(o, columns, rows) is right only for square images; the result is (o, rows, columns)"
        )
    expect_close(got, want, scale=scale, inner=terms, likely=causes, hint=hint, case=case)
hint = "the channels of x are 3, those of w 2: say so before the product does in other words"
for number in ("3", "2"):
    x, w = ramp(3, 4, 4), ramp(1, 2, 2, 2)
    expect_raises(ValueError, conv2d_im2col, x, w, match=number, hint=hint)
expect_raises(ValueError, conv2d_im2col, ramp(2, 3, 3), ramp(1, 2, 4, 3), hint="it must fit")
expect_raises(TypeError, conv2d_im2col, ramp(1, 3, 3), ramp(1, 1, 2, 2), 1.0, hint="padding is 1.0")

# %% nbgrader={"grade": true, "grade_id": "conv2d_im2col-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("conv2d_im2col-hidden").standard_normal
for image, bank, padding in (
    ((1, 1, 1), (1, 1, 1, 1), 0),
    ((2, 4, 7), (1, 2, 1, 1), 0),
    ((1, 7, 3), (2, 1, 3, 2), 0),
    ((2, 2, 5), (1, 2, 2, 5), 2),
    ((3, 3, 3), (0, 3, 2, 2), 0),
    ((0, 3, 4), (2, 0, 2, 2), 1),
    ((3, 6, 6), (5, 3, 3, 3), 1),
    ((1, 0, 2), (1, 1, 2, 1), np.int64(1)),
):
    for dtype in (np.float32, np.float64):
        x, w = normal(image).astype(dtype), normal(bank).astype(dtype)
        scale = conv2d_scale(x, w, padding)
        want = conv2d_spec(x, w, padding)
        got = expect_fresh(conv2d_im2col, x, w, padding)
        expect_close(
            got,
            want,
            inner=bank[1] * bank[2] * bank[3],
            scale=scale,
            allow_empty=True,
            hint="any size, also windows that are not square; both dtypes; a new array",
        )
left, right = normal((2, 4, 3)), normal((2, 2, 2, 2))
scale = conv2d_scale(left, right, 1)
want = conv2d_spec(left, right, 1)
for (name, x), (_, w) in zip(layouts(left), layouts(right)):
    got = expect_unchanged(conv2d_im2col, w=w, x=x, padding=1)
    expect_close(got, want, inner=8, scale=scale, hint=f"x and w may each be {name}")
x, w = np.array([[[1, nan, 2, 3]]]), np.array([[[[1.0, 2.0]]]])
want = np.array([[[nan, nan, 8.0]]])
hint = "NaN reaches the results whose window covers it, no others"
expect_close(conv2d_im2col(x, w), want, hint=hint)
x, w = normal((2, 3, 3)), normal((1, 2, 3, 3))
for padding in (-1, np.int64(-2)):
    expect_raises(ValueError, conv2d_im2col, x, w[:, :, :1, :1], padding, hint="padding < 0")
for sizes in ((1, 2, 3, 4), (1, 2, 0, 1), (1, 1, 1, 1), (2, 3, 3)):
    other = normal(sizes)
    expect_raises(ValueError, conv2d_im2col, x, other, hint="sizes that do not fit: ValueError")
expect_raises(TypeError, conv2d_im2col, x, w.astype(np.float32), hint="mixed dtypes: TypeError")
### END HIDDEN TESTS


# %% nbgrader={"grade": true, "grade_id": "conv2d_im2col-speed", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
def draw_image(rng):
    return rng.standard_normal((3, 16, 16)), rng.standard_normal((4, 3, 3, 3))


points(
    speed(
        conv2d_im2col,
        conv2d_slow,
        draw_image,
        expected=conv2d_spec,
        inner=27,
        points=1,
        full=13,
        half=4,
        hint="one product for all places and filters, and no loop over pixels or weights",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

x, w = ramp(3, 32, 32), ramp(16, 3, 3, 3)
work = 2 * w.size * 32 * 32
flat, columns = w.reshape(16, 27), im2col_spec(x, 3, 3, 1)
try:
    whole = time_call(conv2d_im2col, x, w, 1).median
    laying_out = time_call(im2col, x, 3, 3, 1).median
except NotImplementedError:
    print("left out: im2col or conv2d_im2col is not written yet")
else:
    product = time_call(np.matmul, flat, columns).median
    loops = time_call(conv2d_slow, x, w, 1, repeats=1, warmup=0).median
    print(f"{work:,} floating-point operations for 3 x 32 x 32 and 16 filters of 3 x 3")
    print(f"  in Python loops        {loops * 1e3:10.3f} ms {work / loops / 1e9:10.4f} GFLOP/s")
    print(f"  conv2d_im2col          {whole * 1e3:10.3f} ms {work / whole / 1e9:10.4f} GFLOP/s")
    print(f"    of it im2col         {laying_out * 1e3:10.3f} ms")
    print(f"    of it the product    {product * 1e3:10.3f} ms")
    print(
        f"{loops / whole:,.0f} times the loops. Laying out windows is "
        f"{100 * laying_out / whole:.0f} % of it,\nand takes "
        f"{columns.nbytes / x.nbytes:.0f} times the memory of the image."
    )

# %% [markdown]
"""
## Use it: the same network, new kernels

The network of 02 that tells whether a point of the plane lies inside a circle: matrix product, ReLU, matrix product, softmax. Its first layer's weights are random, the second's were fitted by NumPy. The cell runs it on the kernels of 02 and on those of this module. The kernels of 02 come from your package; if you have not exported them, the cell says so.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import loops
from tito.machine import time_call

draw = np.random.default_rng(2)
plane = draw.uniform(-1, 1, (200, 2))
inside = (plane**2).sum(axis=1) < 0.5
inputs = np.column_stack([plane, np.ones(len(plane))])
first = draw.normal(size=(3, 24))
second = np.linalg.lstsq(np.maximum(inputs @ first, 0), 6.0 * np.eye(2)[inside.astype(int)])[0]


def network(matmul, relu, softmax):
    """The probability of outside and inside, for each point."""
    return softmax(matmul(relu(matmul(inputs, first)), second))


times, answers = {}, {}
for name, kernels in {
    "loops (02)": (loops.matmul_loops, loops.relu_loops, loops.softmax_loops),
    "vectorized, outer products": (vectorized_matmul, vectorized_relu, softmax),
    "vectorized, BLAS": (matmul_baseline, vectorized_relu, softmax),
}.items():
    try:
        answers[name] = network(*kernels)
    except NotImplementedError as error:
        print(f"{name:28}left out: {str(error) or 'not written yet'}")
        continue
    times[name] = time_call(network, *kernels, repeats=3).median
    right = 100 * np.mean((answers[name][:, 1] > 0.5) == inside)
    print(f"{name:28}{times[name] * 1e3:10.3f} ms   right for {right:.0f} % of the points")
if len(times) > 1:
    old, *_, new = times
    apart = np.max(np.abs(answers[old] - answers[new]))
    print(f"{times[old] / times[new]:,.0f} times as fast; largest difference {apart:.1e}")

# %% [markdown]
"""
## Scoreboard

Every rung so far, from 02 and 03. Each is compared with a specification before it is timed, and a rung that is missing or wrong is left out.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import loops
from tito.machine import Rung, scoreboard

a, b = ramp(64, 64), ramp(64, 64, seed=1)
x, gamma, beta = ramp(64, 256), ramp(256, seed=2), ramp(256, seed=3)
image, bank = ramp(3, 16, 16), ramp(4, 3, 3, 3)
places = np.empty_like(x)


def agrees(want, inner):
    """A check for a rung: its result is `want` up to rounding."""
    return partial(expect_close, want=want, inner=inner, scale=np.abs(want).max() + 100)


product = dict(args=(a, b), check=agrees(matmul_spec(a, b), 64), flops=2 * 64**3)
positive = dict(args=(x,), check=agrees(relu_spec(x), 1), nbytes=2 * x.nbytes)
weights = dict(args=(x,), check=agrees(softmax_spec(x), 256), nbytes=2 * x.nbytes)
normed = dict(
    args=(x, gamma, beta),
    check=agrees(layernorm_spec(x, gamma, beta), 256),
    nbytes=2 * x.nbytes,
)
filtered = dict(
    args=(image, bank, 1),
    check=agrees(conv2d_spec(image, bank, 1), 27),
    flops=2 * bank.size * 16 * 16,
)
scoreboard(
    [
        Rung("matmul_loops", loops.matmul_loops, **product),
        Rung("vectorized_matmul", vectorized_matmul, **product),
        Rung("matmul_baseline", matmul_baseline, **product),
        Rung("conv2d_loops", loops.conv2d_loops, **filtered),
        Rung("conv2d_im2col", conv2d_im2col, **filtered),
        Rung("relu_loops", loops.relu_loops, **positive),
        Rung("vectorized_relu", partial(vectorized_relu, out=places), **positive),
        Rung("softmax_loops", loops.softmax_loops, **weights),
        Rung("softmax", partial(softmax, out=places), **weights),
        Rung("layernorm_loops", loops.layernorm_loops, **normed),
        Rung("layernorm", partial(layernorm, out=places), **normed),
    ],
    rounds=3,
)

# %% [markdown]
"""
## Think

Your answers here are read by a person. Three to six sentences each; numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. When is `reshape` a view?** Take two lines of the stride table, one that is a view and one that is a copy, and say for both why it had to be so.

### BEGIN SOLUTION
1 point: reshape is a view when some strides walk the same bytes in the new order; said for a concrete line, e.g. `x.reshape(48)`: rows follow each other without a gap, so one stride of 8 bytes does it.

1 point: a copy where no strides can: `x.T.reshape(48)` would have to go 64 bytes on five times and then jump back, `x[:, :4].reshape(24)` to jump over the gap after every four elements; one stride an axis cannot say that. Only "transposed arrays are copied" without the reason: 0 of this point.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. Less memory, and the time?** Your softmax and layer norm allocate next to nothing with `out=`. By how much did the time go down on your machine, and why not by as much as the memory? What would you expect for arrays of 100 elements?

### BEGIN SOLUTION
1 point: own numbers (memory down by a factor of about 30 or more, time by far less), and the reason: exp and the passes over memory remain, each ufunc still reads and writes the whole array; only allocation and the page faults of fresh memory are gone.

1 point: for 100 elements nothing is gained: the fixed cost of each NumPy call (some microseconds for the chain) dominates and everything lies in the first cache; einsum's own call costs more than it saves. Accepted too: an own measurement at small size.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. What is wrong with a test that compares `matmul_baseline` with `np.matmul`?** And what would you compare it with?

### BEGIN SOLUTION
1 point: matmul_baseline *is* np.matmul behind a door, so the test compares a thing with itself: it can only agree, whatever is wrong (dtype, layout, a bug of the BLAS). It only tests that the call went through.

1 point: compare with something obviously right and made independently: matmul_loops of 02, sums by math.fsum, small integers whose products are exact, or properties such as A(B + C) = AB + AC; with a bound from dtype and inner length, since the order of sums differs.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *Right for square inputs only.* A maximum or a sum has lost its axis and lines up with the columns. `keepdims=True`, and test with three different sizes.
- *The second call gives something else.* `out` was added to and not cleared, or a temporary was kept between calls.
- *`x -= x.max()` changes the caller's array.* In place is for what is yours: `out`, and what you made.
- *The result is float64 for float32.* A `np.zeros(shape)` without a dtype, or a float64 array in the last step. `out` keeps its dtype, whatever is written into it.
- *A convolution that is right for one channel only.* The rows of im2col and the flattened weights are in different orders.
- *A warning about an invalid value.* Infinity minus infinity, inside a row that is meant to be NaN or zero. The whole computation stands inside `np.errstate`.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 03` says the same;
- you have compared your predictions with what the cells printed, above all the ten views and the softmax table;
- the three questions have an answer;
- `tito export 03` has written `tinykernels/vectorized.py`, and you find your own words in it.

## In production

This is how numerical Python is written wherever NumPy is the whole tool: scikit-learn and SciPy pass `out=` and work in place where arrays are large. PyTorch has the same idea under other names, `out=` and methods that end in an underscore, `x.exp_()`. Convolution by im2col and GEMM was the standard way on CPUs and GPUs for years (Caffe is the well-known example), and libraries still choose it for some shapes; where memory is short they build the columns block by block and never as a whole. What NumPy cannot do is *fuse*: each ufunc is a pass of its own over memory. Modules 07 and 10 remove those passes.

**References**

- S. van der Walt, S. C. Colbert, G. Varoquaux, *The NumPy Array: A Structure for Efficient Numerical Computation*, Computing in Science and Engineering 13(2), 2011.
- C. R. Harris et al., *Array programming with NumPy*, Nature 585, 2020.
- P. Blanchard, D. J. Higham, N. J. Higham, *Accurately computing the log-sum-exp and softmax functions*, IMA Journal of Numerical Analysis 41(4), 2021.
- K. Chellapilla, S. Puri, P. Simard, *High Performance Convolutional Neural Networks for Document Processing*, 10th International Workshop on Frontiers in Handwriting Recognition, 2006.

## Next

In a terminal:

    tito test 03       the visible tests, in a process of their own
    tito export 03     your kernels become tinykernels/vectorized.py
    tito submit 03     the file to hand in

Then module 04: what memory does while you compute.
"""

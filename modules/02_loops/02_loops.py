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
# 02 Loops: a slow, exact version of every kernel to come

| | |
|---|---|
| hours | 2.5 |
| difficulty | 1 of 5 |
| needs | 01_measure; Python functions and loops, NumPy indexing |
| code goes to | `tinykernels/loops.py` |
| points | 30 by tests, 6 by hand |

After this module you can

- stop bad input at the door, with a message that says what to do;
- write ReLU, matrix product, softmax, layer norm and convolution as loops so plain that they are *specifications*: every faster kernel of this course is tested against something this simple;
- say where the time of a Python loop goes, and prove it by measuring;
- explain why a sum is kept in float64 even where its result is float32.

The five kernels are all that a small neural network needs. At the end of the module yours run one.

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
#| default_exp loops
#| export
import math
import operator
from math import inf, nan

import numpy as np

# %% jupyter={"source_hidden": true}
# Given: what the tests and measurements below use.
from fractions import Fraction
from functools import partial

from tito.checks import (
    CheckFailed,
    counts,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_unchanged,
    points,
    remote_array,
    rng,
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


# %% [markdown]
"""
## The gap

A matrix product of two 64 x 64 matrices is 64³ multiply-adds, `s += a[i, p] * b[p, j]`, and nothing else. The next cell times one of them twice: as part of NumPy's `a @ a`, and as one turn of a Python loop over two NumPy arrays.

**Predict.** By which power of ten do the two differ? Write down 10, 100, 1000, ... before you run the cell.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call


def add_products(x, y):
    """The dot product of two vectors, one Python step at a time."""
    total = 0.0
    for p in range(len(x)):
        total += x[p] * y[p]
    return total


square, row = ramp(64, 64), ramp(4096)
numpy_step = time_call(np.matmul, square, square).median / 64**3
python_step = time_call(add_products, row, row).median / row.size
print("one multiply-add")
print(f"  inside a @ a          {numpy_step * 1e9:10.3f} ns")
print(f"  in a Python loop      {python_step * 1e9:10.3f} ns")
print(
    f"The loop is {python_step / numpy_step:,.0f} times slower, "
    f"about 10 to the {round(math.log10(python_step / numpy_step))}."
)

# %% [markdown]
"""
Where does that factor go? The processor multiplies and adds two numbers in one instruction. CPython does this for the same turn:

<img alt="Five boxes in a row show one turn of the loop in CPython: fetch two elements, box them as two new objects, multiply after looking up the types, box the product, add and box again. Below them one single box: the fused multiply-add of the CPU, s = a times b plus s." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='632' height='170' viewBox='0 0 632 170' font-family='sans-serif' font-size='14'><title>One turn of the loop</title>
<g fill='rgb(125,125,125)'>
<text x='4' y='18'>CPython, one turn of the loop</text>
<text x='4' y='122'>one lane of the CPU's FMA unit, the same turn</text>
<text x='270' y='152'>blue: bookkeeping</text>
<text x='420' y='152'>orange: arithmetic</text>
</g>
<path d='M110 58h18m-6 -5l6 5l-6 5 M240 58h18m-6 -5l6 5l-6 5 M370 58h18m-6 -5l6 5l-6 5 M500 58h18m-6 -5l6 5l-6 5' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M4 30h104v56h-104z M134 30h104v56h-104z M394 30h104v56h-104z' fill='rgb(86,180,233)'/>
<path d='M264 30h104v56h-104z M524 30h104v56h-104z M4 132h104v30h-104z' fill='rgb(230,159,0)'/>
<g text-anchor='middle' fill='black'>
<text x='56' y='54' font-weight='bold'>fetch</text><text x='56' y='74' font-size='12'>a[i, p], b[p, j]</text>
<text x='186' y='54' font-weight='bold'>box</text><text x='186' y='74' font-size='12'>two new objects</text>
<text x='316' y='54' font-weight='bold'>multiply</text><text x='316' y='74' font-size='12'>types looked up</text>
<text x='446' y='54' font-weight='bold'>box</text><text x='446' y='74' font-size='12'>one new object</text>
<text x='576' y='54' font-weight='bold'>add</text><text x='576' y='74' font-size='12'>and box again</text>
<text x='56' y='152' font-weight='bold'>s = a·b + s</text>
</g>
</svg>">

In exercise 3 you will measure how much of the time is blue. For now the loops may be slow. They must be right.

**Rules that hold for all kernels of this course.** Arrays are float32 or float64, all of a call in one dtype, and so is the result. A result is a new array and inputs are never changed. Empty inputs are no special case: they give what the mathematics says, and an empty sum is 0. Wrong types raise `TypeError`, wrong sizes and values `ValueError`, before any work and with a message. Each exercise gives you a specification to compare with, `..._spec`; a kernel that calls it earns nothing.
"""

# %% [markdown]
"""
## Exercise 1: The door

Hand a list, an integer matrix or the wrong size to a kernel, and it seldom stops. It answers, slowly or wrongly, and the error shows up far from its cause. So each kernel begins with a *door*: a few lines that look at the arguments before any work, and say what to do about a bad one. You write it once, and all later modules import it.

The next cell holds one door as a worked example. Two things to see in it:

- It asks only for `.dtype`, `.shape` and `.ndim`. Whatever has those and can be indexed may pass. In exercise 2 that will be an array that counts how often you read it.
- Its messages name the argument, what came in, and the call that mends it.

<img alt="A caller's arguments on the left meet a door with two checks, types first and sizes second. Below the door two arrows lead back to the caller, a TypeError and a ValueError, each with a message. Only arguments that pass both reach the kernel on the right." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='582' height='186' viewBox='0 0 582 186' font-family='sans-serif' font-size='14'><title>A door before the kernel</title>
<path d='M4 44h120v44h-120z' fill='rgb(86,180,233)'/>
<path d='M196 20h80v92h-80zM312 20h80v92h-80z' fill='rgb(230,159,0)'/>
<path d='M458 44h120v44h-120z' fill='rgb(0,158,115)'/>
<path d='M128 66h60m-7 -6l7 6l-7 6M280 66h24m-7 -6l7 6l-7 6M396 66h54m-7 -6l7 6l-7 6M236 116v34h-172v-54m-6 7l6 -7l6 7M352 116v58h-308v-78m-6 7l6 -7l6 7' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g text-anchor='middle' fill='black' font-weight='bold'><text x='64' y='71'>arguments</text><text x='236' y='71'>types?</text><text x='352' y='71'>sizes?</text><text x='518' y='71'>kernel</text></g>
<g fill='rgb(125,125,125)'><text x='248' y='145'>TypeError</text><text x='364' y='169'>ValueError, before any work</text></g>
</svg>">

Your two doors: `check_count` for numbers such as a block size or a padding, `check_matmul` for the arguments of a matrix product.

**Predict.** Which of `True`, `np.int64(3)`, `2.0`, `"4"` does `isinstance(value, int)` let in? Which should a *count* accept? Then run the cell after the door.
"""

# %%
#| export
FLOAT_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def check_float_array(name, x, ndim, dtype=None):
    """The shape of x, if x is an array of floats that a kernel can work on.

    name  : what the caller calls the argument; used in messages
    x     : the argument; only its .dtype, .shape and .ndim are read
    ndim  : the number of axes it must have, or a tuple of allowed numbers; None: one or more
    dtype : the dtype it must have, where another argument has set one
    returns x.shape
    raises TypeError for what is no array of float32 or float64 (in native byte order), or has
        another dtype than asked for; ValueError for another number of axes

    >>> check_float_array("x", np.zeros((2, 3)), ndim=2)
    (2, 3)
    """
    found = getattr(x, "dtype", None)
    if found is None:
        kind = type(x).__name__
        raise TypeError(f"{name} is a {kind}: use np.asarray({name}).astype(np.float32)")
    if found not in FLOAT_DTYPES:
        raise TypeError(f"{name} has dtype {found}: use {name}.astype(np.float32) or np.float64")
    if dtype is not None and found != dtype:
        raise TypeError(f"{name} is {found}, but this call is in {dtype}: use {name}.astype")
    allowed = ndim if isinstance(ndim, tuple) else (ndim,)
    if x.ndim not in allowed and (ndim is not None or x.ndim == 0):
        wanted = " or ".join(str(n) for n in allowed) if ndim is not None else "1 or more"
        raise ValueError(f"{name} has shape {x.shape}, {x.ndim} axes: {wanted} needed")
    return x.shape


# %% tags=["raises-exception"]
#| measure
for value in (True, np.int64(3), 2.0, "4"):
    print(f"isinstance({value!r}, int) is {isinstance(value, int)}")
for x in ([1.0, 2.0], np.arange(3), np.zeros((2, 3, 4), np.float32)):
    try:
        check_float_array("x", x, ndim=2)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")


# %% nbgrader={"grade": false, "grade_id": "doors", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def check_count(name, value, minimum=1):
    """The whole number in `value`, if it is one and large enough.

    name    : what the caller calls the argument; used in messages
    value   : an int or a NumPy integer; bool, float, str and None are refused
    minimum : the smallest value allowed
    returns the value as an int
    raises TypeError for what is no whole number, ValueError for less than minimum; both messages
        name the argument and show the value

    >>> check_count("block", np.int32(16))
    16
    """
    # Hint: operator.index takes ints and NumPy integers and refuses floats. About 8 lines.
    ### BEGIN SOLUTION
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}: use int()") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {count}")
    return count
    ### END SOLUTION


def check_matmul(a, b):
    """The sizes (m, k, n) of the product of a and b, if they can be multiplied.

    a : (m, k) float32 or float64
    b : (k, n), the dtype of a
    returns (m, k, n)
    raises TypeError for a wrong or mixed dtype, ValueError for a wrong number of axes or inner
        sizes that differ; the last message shows both shapes

    >>> check_matmul(np.zeros((2, 3)), np.zeros((3, 4)))
    (2, 3, 4)
    """
    # Hint: check_float_array does most of it, its last argument too. About 6 lines.
    ### BEGIN SOLUTION
    m, k = check_float_array("a", a, ndim=2)
    inner, n = check_float_array("b", b, ndim=2, dtype=a.dtype)
    if k != inner:
        raise ValueError(
            f"a {a.shape} times b {b.shape}: the inner sizes {k} and {inner} differ; "
            "is one of them transposed?"
        )
    return m, k, n
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "doors-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for value in (1, 7, np.int64(3), np.int32(2), np.uint8(255)):
    try:
        got = check_count("block", value)
    except TypeError:
        raise CheckFailed(
            f"check_count refused {value!r}\n  likely    isinstance(v, int) is False for NumPy's "
            "integers\n  try       refuse bool first, then ask operator.index"
        ) from None
    expect_equal(got, int(value), hint="return the value as a plain int")
expect_equal(check_count("padding", 0, minimum=0), 0, hint="compare with minimum, not with 1")
for value, why in (
    (True, "True is an int in Python: refuse bool first, then ask operator.index"),
    (2.0, "int(v) would make 2 of 2.5 without a word: operator.index refuses all floats"),
    ("4", "a string is no number, whatever it spells"),
    (None, "None is no number: TypeError"),
    (nan, "a NaN is a float: TypeError, before it is compared with anything"),
):
    expect_raises(TypeError, check_count, "block", value, match="block", hint=why)
for value in (0, -1):
    expect_raises(
        ValueError,
        check_count,
        "block",
        value,
        match="block",
        hint="below the minimum: ValueError, with the argument's name in its message",
    )

for shape in ("2, 3", "4, 2"):
    expect_raises(
        ValueError,
        check_matmul,
        ramp(2, 3),
        ramp(4, 2),
        match=shape,
        hint="the inner sizes 3 and 4 must agree, the outer ones need not; show both shapes",
    )
for m, k, n in ((3, 3, 3), (2, 3, 4), (7, 0, 5)):
    sizes = expect_unchanged(check_matmul, ramp(m, k), ramp(k, n))
    expect_equal(sizes, (m, k, n), hint="a is (m, k) and b is (k, n)")
expect_raises(
    TypeError,
    check_matmul,
    ramp(2, 3),
    ramp(3, 2, dtype=np.float32),
    hint="one dtype a call: hand a.dtype to check_float_array for b",
)

# %% nbgrader={"grade": true, "grade_id": "doors-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
for value in (2, 3, 1000, np.int16(9), np.uint64(2**40)):
    want = int(value)
    expect_equal(check_count("workers", value, 2), want, hint="an int from minimum on passes")
for value in (np.True_, False, np.float64(3), 1e3, [3], b"3", 3 + 0j):
    expect_raises(
        TypeError,
        check_count,
        "workers",
        value,
        match="workers",
        hint="a value that is no whole number: TypeError that names the argument",
    )
for value, minimum in ((1, 2), (np.int64(-5), 0), (-(2**70), 1), (9, 10)):
    expect_raises(
        ValueError,
        check_count,
        "workers",
        value,
        minimum,
        match="workers",
        hint="a count below its minimum: ValueError that names the argument",
    )
for dtype in (np.float32, np.float64):
    sizes = check_matmul(ramp(33, 2, dtype=dtype), ramp(2, 7, dtype=dtype))
    expect_equal(sizes, (33, 2, 7), hint="float32 and float64 both pass")
expect_equal(check_matmul(ramp(3, 0).T, ramp(3, 0)), (0, 3, 0), hint="empty matrices pass")
for a, b in ((ramp(3), ramp(3, 2)), (ramp(2, 3), ramp(3)), (ramp(2, 3, 1), ramp(1, 2))):
    expect_raises(ValueError, check_matmul, a, b, hint="both arguments must have two axes")
for a, b in ((ramp(5, 3), ramp(2, 5)), (ramp(3, 2), ramp(3, 2)), (ramp(0, 1), ramp(0, 1))):
    expect_raises(ValueError, check_matmul, a, b, hint="inner sizes that differ: ValueError")
swapped = np.dtype(np.float64).newbyteorder()
for a, b in (
    (ramp(2, 2, dtype=np.float32), ramp(2, 2)),
    (ramp(2, 2).astype(swapped), ramp(2, 2)),
    (ramp(2, 2), ramp(2, 2).astype(swapped)),
    (ramp(2, 2, dtype=np.int64), ramp(2, 2, dtype=np.int64)),
    (ramp(2, 2), ramp(2, 2).tolist()),
):
    expect_raises(TypeError, check_matmul, a, b, hint="a wrong, mixed or swapped dtype: TypeError")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

for size in (8, 64, 256):
    a = ramp(size, size)
    door = time_call(check_matmul, a, a).median
    product = time_call(np.matmul, a, a).median
    print(f"n = {size:3}   door {door * 1e6:7.2f} us   a @ a {product * 1e6:9.2f} us")
print(f"The door takes {door * 1e6:.2f} us whatever the size: it looks at shapes, not at elements.")
print(f"At n = {size} that is {100 * door / product:.2g} % of NumPy's product.")

# %% [markdown]
"""
## Exercise 2: ReLU, and counting what you read

`relu(x)` keeps what is positive and makes the rest 0. One line, and three ways to get it wrong.

*NaN.* Every comparison with NaN is false. `x > 0` is false for NaN and so is `x < 0`; which of the two you ask decides whether NaN survives. It must: a kernel that swallows NaN hides the bug that made it.

*Reads.* `x[i] if x[i] > 0 else 0` goes to memory twice for every positive element. A name costs nothing:

<img alt="Two rows of memory cells. Above, two arrows lead from one cell to the code: one for the test and one for the value. Below, one arrow leads to a name, and the test and the value both use the name." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='556' height='160' viewBox='0 0 556 160' font-family='sans-serif' font-size='14'><title>Two reads or one</title>
<path d='M72 22h34v34h-34zM72 102h34v34h-34z' fill='rgb(86,180,233)'/>
<path d='M4 22h34v34h-34zM38 22h34v34h-34zM72 22h34v34h-34zM106 22h34v34h-34zM140 22h34v34h-34zM174 22h34v34h-34zM4 102h34v34h-34zM38 102h34v34h-34zM72 102h34v34h-34zM106 102h34v34h-34zM140 102h34v34h-34zM174 102h34v34h-34z' fill='none' stroke='rgb(125,125,125)'/>
<path d='M300 22h250v34h-250z' fill='rgb(230,159,0)'/><path d='M236 102h64v34h-64z' fill='rgb(0,158,115)'/><path d='M340 102h210v34h-210z' fill='rgb(230,159,0)'/>
<path d='M89 20v-12h265v10m-6 -7l6 7l6 -7M89 58v12h400v-10m-6 7l6 -7l6 7M89 138v14h179v-12m-6 7l6 -7l6 7M300 119h36m-7 -6l7 6l-7 6' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g fill='black' text-anchor='middle'><text x='425' y='44'>is x[i] negative? else x[i]</text><text x='268' y='124' font-weight='bold'>value</text><text x='445' y='124'>negative? else value</text></g>
<g fill='rgb(125,125,125)'><text x='216' y='88'>two reads above, one read below</text></g>
</svg>">

*In place.* `x[i] = 0` changes the caller's array.

The cells that check your reads hand in an array that counts them. No clock is involved: the number is exact, on every machine.

**Predict.** For an array with as many positive as negative elements, how many reads per element does `x[i] if x[i] > 0 else 0` make?
"""


# %%
def relu_spec(x):
    """ReLU in one NumPy call; NaN stays NaN."""
    return np.maximum(x, x.dtype.type(0))


# %% nbgrader={"grade": false, "grade_id": "relu_loops", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def relu_loops(x):
    """Zero in place of every negative element.

        y[i] = 0 if x[i] < 0 else x[i]

    x : (n,) or (m, n) float32 or float64, any stride; not modified; NaN stays NaN
    returns a new array of x's shape and dtype; each element of x is read exactly once
    raises TypeError and ValueError as check_float_array

    >>> relu_loops(np.array([-1.5, 0.0, 2.5]))
    array([0. , 0. , 2.5])
    """
    # Hint: np.ndindex(*shape) yields the index tuples of one axis or two. About 6 lines.
    ### BEGIN SOLUTION
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        value = x[index]
        y[index] = 0 if value < 0 else value
    return y
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "relu_loops-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
special = np.array([1, nan, -1, -inf, inf], np.float32)
for x in (ramp(7), ramp(3, 5), ramp(0), special):
    want = relu_spec(x)
    try:
        got = expect_unchanged(relu_loops, x)
    except ValueError as error:
        one = "one index for two axes: x[i] is a whole row"
        cause = one if x.ndim == 2 else "x has one axis here, and the code asks for two"
        raise CheckFailed(
            f"relu_loops  x {x.shape}: {error}\n"
            f"  likely    {cause}\n"
            "  try       np.ndindex(*x.shape) walks one axis or two"
        ) from None
    causes = {
        "NaN became 0, since nan > 0 is False: test value < 0 instead": lambda: np.fmax(x, 0),
        "the sign was dropped: negative elements become 0": lambda: abs(x),
    }
    hint = "x has one axis or two: np.ndindex(*x.shape) walks both"
    expect_equal(got, want, likely=causes, hint=hint, allow_empty=True)
expect_raises(TypeError, relu_loops, [1.0, -1.0], hint="begin with check_float_array")

# %% nbgrader={"grade": true, "grade_id": "relu_loops-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("relu_loops-hidden").standard_normal
for shape in ((1,), (2,), (33,), (0, 3), (3, 0), (1, 7), (13, 5)):
    for dtype in (np.float32, np.float64):
        x = normal(shape).astype(dtype)
        want = relu_spec(x)
        expect_equal(
            expect_fresh(relu_loops, x),
            want,
            allow_empty=True,
            hint="any size, both dtypes, a new array",
        )
for name, x in layouts(normal((5, 4))):
    want = relu_spec(x)
    expect_equal(expect_unchanged(relu_loops, x), want, hint=f"x may be {name}; leave it as it is")
for x in (-np.abs(normal(7)), np.array([0.5, -2, nan]), np.array([[nan], [-inf]])):
    want = relu_spec(x)
    expect_equal(relu_loops(x), want, hint="all negative gives zeros; NaN stays NaN wherever it is")
expect_raises(ValueError, relu_loops, ramp(2, 2, 2), hint="three axes: ValueError from the door")
expect_raises(TypeError, relu_loops, np.arange(3), hint="integers: TypeError from the door")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "relu_loops-count", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x = ramp(4, 6)
want = relu_spec(x)
counted = remote_array(x)
expect_equal(relu_loops(counted), want, hint="read x[i, j]: one element at a time")
reads = counts(counted).reads
points(
    1 if reads == x.size else 0,
    None if reads == x.size else f"{reads} reads of {x.size} elements: keep each element in a name",
)

# %% nbgrader={"grade": true, "grade_id": "relu_loops-count-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
x = rng("relu_loops-count-hidden").standard_normal(33)
want = relu_spec(x)
counted = remote_array(x)
expect_equal(relu_loops(counted), want, hint="a vector, too, may be read one element at a time")
reads = counts(counted).reads
points(
    1 if reads == x.size else 0,
    None if reads == x.size else "not one read for each element: keep each element in a name",
)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

for size in (100, 1000, 10000):
    x = ramp(size)
    loops, library = time_call(relu_loops, x).median / size, time_call(relu_spec, x).median / size
    print(
        f"n = {size:5}   ns an element: loops {loops * 1e9:7.1f}, np.maximum {library * 1e9:6.2f}"
    )
moved = 2 * x.itemsize / 1e9
print(f"At n = {size} NumPy is {loops / library:,.0f} times faster, for the same work per element.")
print(f"It moves {moved / library:.2f} GB/s, your loop {moved / loops:.4f} GB/s.")

# %% [markdown]
"""
## Exercise 3: Matrix product

One element of the product is a row of `a` against a column of `b`:

    c[i, j] = a[i, 0]*b[0, j] + a[i, 1]*b[1, j] + ... + a[i, k-1]*b[k-1, j]

Each small cube below is one multiply-add. `c[i, j]` adds up all cubes behind it.

<img alt="A cube of small cubes. Its front face has rows i and columns j, its depth is the inner index p. On the front one square is lit: c[i, j]. On top the strip behind it is lit, column j of b; on the side the strip at its height, row i of a." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='620' height='272' viewBox='0 0 620 272' font-family='sans-serif' font-size='14'><title>The cube of multiply-adds</title>
<path d='M186 92L222 92L302 32L266 32z' fill='rgb(86,180,233)'/>
<path d='M294 164L294 200L374 140L374 104z' fill='rgb(230,159,0)'/>
<path d='M186 164L222 164L222 200L186 200z' fill='rgb(0,158,115)'/>
<path d='M150 92L150 236M186 92L186 236M222 92L222 236M258 92L258 236M294 92L294 236M150 92L294 92M150 128L294 128M150 164L294 164M150 200L294 200M150 236L294 236M150 92L230 32M186 92L266 32M222 92L302 32M258 92L338 32M294 92L374 32M170 77L314 77M190 62L334 62M210 47L354 47M230 32L374 32M294 128L374 68M294 164L374 104M294 200L374 140M294 236L374 176M314 77L314 221M334 62L334 206M354 47L354 191M374 32L374 176' fill='none' stroke='rgb(125,125,125)' stroke-width='1.5'/>
<g fill='rgb(125,125,125)'>
<text x='138' y='167.60000000000002' text-anchor='end'>i, rows of a</text>
<text x='222' y='258' text-anchor='middle'>j, columns of b</text>
<text x='348' y='226'>p, the inner index</text>
<text x='390' y='42'>blue, on top: column j of b</text>
<text x='390' y='66'>orange, at the side: row i of a</text>
<text x='390' y='90'>green, in front: c[i, j]</text>
</g>
</svg>">

Three loops, `i`, `j`, `p`. The trap is the sum. `total = 0.0` looks like float64, but NumPy 2 keeps `0.0 + np.float32(...)` in float32 (NEP 50): the Python float gives way. A specification must be more exact than the kernels it judges, so make each *factor* a Python float, `float(a[i, p])`, and round once, when you store.

`@`, `np.dot`, `np.einsum`, `np.sum`, `math.fsum` and their kin are off limits here; Python's own `sum` over a loop is a loop and may stay. A forbidden route makes the tests of this exercise worth nothing, and the message names its line.

**Predict.** `float32` has 24 bits. What does `(1e8 + 1) - 1e8` give in it?
"""


# %%
def matmul_spec(a, b):
    """The product with every sum exact before it is rounded (math.fsum)."""
    columns = b.astype(float).T.tolist()
    exact = [
        [math.fsum(map(operator.mul, row, column)) for column in columns]
        for row in a.astype(float).tolist()
    ]
    return np.array(exact, a.dtype).reshape(a.shape[0], b.shape[1])


def product_magnitude(a, b):
    """What is added up for each element, without signs: the scale of its rounding errors."""
    return matmul_spec(np.abs(a), np.abs(b))


# %% jupyter={"source_hidden": true}
# Typical mistakes, for the messages of the tests.
def summed_in_float32(a, b):
    """The product with each sum rounded to float32 after every step."""
    steps = (a[:, :, None] * b[None, :, :]).astype(np.float32)
    return np.add.accumulate(steps, axis=1, dtype=np.float32)[:, -1].astype(a.dtype)


# %% nbgrader={"grade": false, "grade_id": "matmul_loops", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, sum, spec
def matmul_loops(a, b):
    """The product of two matrices, by three loops.

        c[i, j] = a[i, 0]*b[0, j] + ... + a[i, k-1]*b[k-1, j]

    a : (m, k) float32 or float64, any stride; not modified
    b : (k, n), the dtype of a
    returns (m, n) of that dtype, a new array; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul

    Sums are kept in float64 and rounded once: N. J. Higham, Accuracy and Stability of Numerical
    Algorithms, 2nd edition, chapter 3.

    >>> matmul_loops(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    # Hint: float(a[i, p]) * float(b[p, j]) is a product in float64. About 9 lines.
    ### BEGIN SOLUTION
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    return c
    ### END SOLUTION


educational_matmul = matmul_loops  # the name that other courses and the benchmarks know it by

# %% nbgrader={"grade": true, "grade_id": "matmul_loops-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, k, n in ((2, 2, 2), (2, 3, 4), (5, 1, 3), (3, 0, 2)):
    a, b = ramp(m, k), ramp(k, n, seed=1)
    want = matmul_spec(a, b)
    try:
        got = expect_unchanged(matmul_loops, a, b)
    except IndexError:
        raise CheckFailed(
            f"matmul_loops  a ({m}, {k}), b ({k}, {n}): an index is out of range\n"
            "  likely    two loops have each other's range: it goes well only when sizes agree\n"
            "  try       i runs over the m rows of a, j over the n columns of b, p over k"
        ) from None
    causes = {
        "b is read as b[j, p]: that is a times b transposed": lambda: matmul_spec(a, b.T),
        "a is read as a[p, i]: that is a transposed times b": lambda: matmul_spec(a.T, b),
    }
    hint = "c is (m, n); each element sums all k products anew, and an empty sum is 0"
    scale = product_magnitude(a, b)
    case = f"a ({m}, {k}), b ({k}, {n})"
    expect_close(got, want, inner=k, scale=scale, likely=causes, hint=hint, case=case)

a, b = np.array([[1e8, 1, -1e8]], np.float32), np.ones((3, 1), np.float32)
want = matmul_spec(a, b)
got = matmul_loops(a, b)
cause = "the sum runs in float32, since 0.0 + np.float32 stays np.float32 in NumPy 2"
causes = {cause: lambda: summed_in_float32(a, b)}
expect_close(got, want, likely=causes, hint="cast each factor with float()")
expect_raises(ValueError, matmul_loops, ramp(2, 3), ramp(2, 3), hint="begin with check_matmul")

# %% nbgrader={"grade": true, "grade_id": "matmul_loops-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("matmul_loops-hidden").standard_normal
for m, k, n in ((0, 2, 3), (2, 3, 0), (1, 1, 1), (7, 2, 1), (1, 33, 7), (13, 5, 11)):
    for dtype in (np.float32, np.float64):
        a, b = normal((m, k)).astype(dtype), normal((k, n)).astype(dtype)
        want, scale = matmul_spec(a, b), product_magnitude(a, b)
        got = expect_fresh(matmul_loops, a, b)
        expect_close(
            got,
            want,
            inner=k,
            scale=scale,
            allow_empty=True,
            hint="any size, both dtypes, a new array",
        )
left, right = normal((3, 5)), normal((5, 4))
want, scale = matmul_spec(left, right), product_magnitude(left, right)
for (name, a), (_, b) in zip(layouts(left), layouts(right)):
    got = expect_unchanged(matmul_loops, a, b)
    expect_close(got, want, inner=5, scale=scale, hint=f"a and b may each be {name}")
ones = np.ones((1000, 1), np.float32)
for a in (np.full((1, 1000), 0.1, np.float32), np.array([[3e7, 1, -3e7]], np.float32)):
    b = ones[: a.size]
    want = matmul_spec(a, b)
    got = matmul_loops(a, b)
    expect_close(got, want, hint="sum in float64 for float32 too: float() each factor")
a, b = np.array([[nan, 1], [inf, 1]]), np.array([[1.0, 0.0], [1.0, 2.0]])
want = np.array([[nan, nan], [inf, nan]])
hint = "NaN and infinity follow the arithmetic: skip no term"
expect_close(matmul_loops(a, b), want, hint=hint)
a, b = np.array([[0.0, 0.5]]), np.array([[nan, 2.0], [1.0, 3.0]])
expect_close(matmul_loops(a, b), np.array([[nan, 1.5]]), hint=hint)
a, b = np.array([[1e20, 1e20, 1]], np.float32), np.array([[1e20], [-1e20], [5]], np.float32)
hint = "float() each factor: a product of two float32 may be too large for one"
expect_close(matmul_loops(a, b), np.full((1, 1), 5, np.float32), hint=hint)
expect_raises(
    TypeError, matmul_loops, ramp(2, 2), ramp(2, 2).astype(np.float32), hint="mixed dtypes"
)
a, b = ramp(2, 3), ramp(3, 2)
want = matmul_spec(a, b)
expect_close(
    educational_matmul(a, b), want, inner=3, hint="educational_matmul is the same function"
)
### END HIDDEN TESTS


# %%
def matmul_on_lists(rows, columns):
    """The same multiply-adds on lists of Python floats: columns[j] is column j of b."""
    result = []
    for row in rows:
        sums = []
        for column in columns:
            total = 0.0
            for p in range(len(row)):
                total += row[p] * column[p]
            sums.append(total)
        result.append(sums)
    return result


# %% [markdown]
"""
**Predict.** The cell above holds the same multiply-adds, but on *lists* of Python floats. Their elements are boxed already. Is it slower than your loop on arrays, the same, or faster, and by how much?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

table = ["ns per multiply-add     arrays      lists      a @ a"]
for size in (4, 8, 16, 32, 64):
    a = ramp(size, size)
    rows, columns = a.tolist(), a.T.tolist()
    steps = size**3 / 1e9
    on_arrays = time_call(matmul_loops, a, a, repeats=3).median / steps
    on_lists = time_call(matmul_on_lists, rows, columns, repeats=3).median / steps
    in_numpy = time_call(np.matmul, a, a).median / steps
    table.append(f"n = {size:2}              {on_arrays:10.1f} {on_lists:10.1f} {in_numpy:10.3f}")
print(*table, sep="\n")
print(
    f"n = {size}: lists are {on_arrays / on_lists:.1f} times as fast as arrays, for the same sums."
)
print(f"From lists to a @ a it is another factor of {on_lists / in_numpy:,.0f}.")

# %% [markdown]
r"""
## Exercise 4: Softmax

Softmax turns a row of scores into positive weights that add up to 1:

$$ y_j = \frac{e^{x_j}}{\sum_q e^{x_q}} = \frac{e^{x_j - t}}{\sum_q e^{x_q - t}} \quad\text{for every } t $$

$e^{710}$ does not fit into a float64, but the second form holds for *every* $t$. With $t$ the largest score of the row, no exponent is above 0 and one of them is exactly 0: nothing overflows and the sum is at least 1.

<img alt="Two number lines. On the upper one the three scores of a row lie far right of 0, beyond the point where exp overflows. On the lower one the same three scores, moved left so that the largest stands at 0." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='600' height='166' viewBox='0 0 600 166' font-family='sans-serif' font-size='14'><title>Scores moved left of 0</title>
<path d='M20 50h560m-8 -5l8 5l-8 5M20 130h560m-8 -5l8 5l-8 5M160 44v12M160 124v12M400 44v12' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M400 34h176v8h-176z' fill='rgb(213,94,0)'/>
<path d='M440 50h.1M490 50h.1M550 50h.1M50 130h.1M100 130h.1M160 130h.1' fill='none' stroke='rgb(86,180,233)' stroke-width='16' stroke-linecap='round'/>
<path d='M536 62L184 122m9 -7l-9 7l11 4' fill='none' stroke='rgb(230,159,0)' stroke-width='3'/>
<g fill='rgb(125,125,125)' text-anchor='middle'><text x='160' y='76'>0</text><text x='488' y='24'>exp overflows here</text><text x='160' y='158'>0</text><text x='550' y='80'>t</text><text x='452' y='108'>take t off every score</text></g>
</svg>">

Attention masks scores with $-\infty$, so rows of infinities are everyday input. The rule of this course, the same in all variants:

- a row of only $-\infty$ gives zeros (it attends to nothing, so it adds nothing);
- a row with NaN or $+\infty$ is all NaN; the other rows do not notice;
- no warning escapes.

**Predict.** What does `math.exp(1000)` do, and what does `np.exp(1000.0)` do?
"""

# %%
from decimal import Decimal


def softmax_spec(x):
    """Softmax in decimal arithmetic, whose exponents are so large that nothing overflows."""
    return np.array([_softmax_row(row) for row in x.tolist()], x.dtype).reshape(x.shape)


def _softmax_row(row):
    if any(math.isnan(v) or v == inf for v in row):
        return [nan] * len(row)
    powers = [Decimal(v).exp() for v in row]
    whole = sum(powers)
    return [float(e / whole) if whole else 0.0 for e in powers]


# %% jupyter={"source_hidden": true}
# Typical mistakes, for the messages of the tests.
def softmax_less(x, t):
    """Softmax with any t taken off, be it too small or too large."""
    with np.errstate(all="ignore"):
        powers = np.exp(x.T - t)
        return (powers / powers.sum(axis=0)).T


# %% nbgrader={"grade": false, "grade_id": "softmax_loops", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def softmax_loops(x):
    """Softmax of every row.

        y[i, j] = exp(x[i, j] - t) / sum of exp(x[i, q] - t) over q,  t = max of x[i, :]

    x : (m, n) float32 or float64, any stride; not modified
    returns (m, n) of x's dtype, a new array; n = 0 gives (m, 0)
    raises TypeError and ValueError as check_float_array

    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN. No warning escapes.
    Taking off the maximum: P. Blanchard, D. J. Higham, N. J. Higham, Accurately computing the
    log-sum-exp and softmax functions, IMA J. Numer. Anal. 41(4), 2021.

    >>> softmax_loops(np.array([[0.0, 0.0], [1000.0, -np.inf]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    # Hint: a list of Python floats for each row, and math.exp. About 12 lines.
    ### BEGIN SOLUTION
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        if all(score == -math.inf for score in scores):
            continue
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax_loops-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for x in (
    ramp(1, 3),
    ramp(3, 7).astype(np.float32),
    np.array([[1000.0, 999.0], [0.0, 1.0]]),
    np.array([[0.0, 1.0], [-1000.0, -1001.0]]),
    np.array([[-inf, 0, 1], [-inf, -inf, -inf], [0, nan, 1], [inf, 0, 1], [1, 2, 3]]),
):
    want = softmax_spec(x)
    try:
        got = expect_unchanged(softmax_loops, x)
    except OverflowError:
        raise CheckFailed(
            f"softmax_loops  x {x.tolist()}: math.exp overflows\n"
            "  likely    exp(1000) fits into no float\n"
            "  try       subtract the row maximum first"
        ) from None
    except ZeroDivisionError:
        raise CheckFailed(
            f"softmax_loops  x {x.tolist()}: the sum of a row is 0\n"
            "  likely    a maximum that is not the row's own: all of the row is far below it\n"
            "  try       search each row for its maximum, from -inf on; a row of only -inf is zeros"
        ) from None
    top = x.max(axis=1)
    causes = {
        "no case for a row of only -inf: the rule is zeros": lambda: softmax_less(x, top),
        "the maximum starts at 0 and misses rows below it": lambda: softmax_less(
            x, np.fmax(top, 0)
        ),
        "exp(1000) is inf: subtract the row maximum": lambda: softmax_less(x, 0),
        "one maximum for all rows: those far below are 0/0": lambda: softmax_less(x, x.max()),
        "softmax ran down the columns": lambda: softmax_less(x.T, x.max(axis=0)).T,
    }
    hint = "each row is one softmax: check its maximum, and the rule for -inf, +inf and NaN"
    expect_close(got, want, inner=x.shape[1], likely=causes, hint=hint)
expect_raises(
    ValueError, softmax_loops, ramp(3), hint="x has two axes: begin with check_float_array"
)

# %% nbgrader={"grade": true, "grade_id": "softmax_loops-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
import warnings

normal = rng("softmax_loops-hidden").standard_normal
for m, n in ((1, 1), (2, 7), (33, 2), (5, 33), (0, 4), (3, 0)):
    for dtype in (np.float32, np.float64):
        x = (3 * normal((m, n))).astype(dtype)
        want = softmax_spec(x)
        got = expect_fresh(softmax_loops, x)
        expect_close(
            got,
            want,
            inner=n,
            allow_empty=True,
            hint="any size, both dtypes, a new array; n = 0 gives (m, 0)",
        )
for name, x in layouts(normal((3, 5))):
    want = softmax_spec(x)
    got = expect_unchanged(softmax_loops, x)
    expect_close(got, want, inner=5, hint=f"x may be {name}; leave it as it is")
x = ramp(4, 9)
want = softmax_spec(x)
for shift in (1e4, -1e4):
    expect_close(softmax_loops(x + shift), want, inner=9, hint="a shifted row has the same softmax")
special = np.array(
    [
        [-inf, -inf],
        [nan, -inf],
        [-inf, nan],
        [inf, -inf],
        [inf, inf],
        [-inf, -1e5],
        [1e5, -1e5],
        [2, 1],
    ]
)
for x in (special, special.astype(np.float32), special[:1], special[::-1]):
    want = softmax_spec(x)
    with warnings.catch_warnings(record=True, action="always") as seen:
        got = softmax_loops(x)
    expect_close(got, want, inner=2, hint="the rule for -inf, +inf and NaN, each row for itself")
    assert not [w for w in seen if issubclass(w.category, RuntimeWarning)], "a warning escaped"
low = np.array([[-3e38, -3e38]])
expect_close(softmax_loops(low), np.array([[0.5, 0.5]]), hint="a maximum may be as low as it likes")
expect_raises(
    TypeError, softmax_loops, np.array([[1, 2]]), hint="integers: TypeError from the door"
)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

x = ramp(8, 256)
values = x.ravel().tolist()


def exponentials(values):
    """Only the part of softmax that is mathematics."""
    return [math.exp(v) for v in values]


def softmax_numpy(x):
    """What you would write with NumPy; module 03 does it with care."""
    powers = np.exp(x - x.max(axis=1)[:, None])
    return powers / powers.sum(axis=1)[:, None]


whole = time_call(softmax_loops, x).median / x.size
only_exp = time_call(exponentials, values).median / x.size
library = time_call(softmax_numpy, x).median / x.size
print("ns per element")
print(f"  softmax_loops          {whole * 1e9:8.1f}")
print(f"  math.exp on a list     {only_exp * 1e9:8.1f}")
print(f"  NumPy                  {library * 1e9:8.1f}")
print(f"The exponentials are {100 * only_exp / whole:.0f} % of your softmax, list and all.")
print(f"NumPy does all of it in {100 * library / whole:.1f} % of the time.")

# %% [markdown]
r"""
## Exercise 5: Layer norm

Layer norm moves each row to mean 0 and variance 1, then scales and shifts each column:

$$ y_j = \gamma_j \, \frac{x_j - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_j \qquad \mu = \frac1n\sum_j x_j \qquad \sigma^2 = \frac1n\sum_j (x_j - \mu)^2 $$

Statistics books offer a shortcut for the variance, $\overline{x^2} - \mu^2$, one pass instead of two. On paper it is equal. In floating point it subtracts two huge numbers to find a small one, and the small one is what was rounded away:

<img alt="Two ways to the variance of a row that lies far from 0. Above, the mean of the squares and the square of the mean are two long bars that differ by a sliver at their ends. Below, the row is moved to 0 first, and the deviations are short bars of their own." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='600' height='188' viewBox='0 0 600 188' font-family='sans-serif' font-size='14'><title>Two ways to a variance</title>
<path d='M150 22h400v20h-400zM150 50h393v20h-393z' fill='rgb(86,180,233)'/><path d='M543 50h7v20h-7z' fill='rgb(213,94,0)'/>
<path d='M150 112v70M150 122h44v10h-44zM150 138h-30v10h30zM150 154h18v10h-18zM150 170h-32v10h32z' fill='rgb(0,158,115)' stroke='rgb(125,125,125)'/>
<g fill='rgb(125,125,125)'><text x='4' y='37'>mean of squares</text><text x='4' y='65'>square of mean</text><text x='556' y='66' fill='rgb(213,94,0)'>var</text><text x='4' y='102'>row less its mean, then squared: the variance is as large as what it is made of</text></g>
</svg>">

So: two passes, first the mean, then the mean of the squared deviations. Divide by `n`, not by `n - 1`: this is the variance of the row itself, not an estimate for a larger population. `eps` stands inside the root.

**Predict.** A row has mean 1e6 and deviations near 2. How many of float64's 16 digits are left of the variance after the shortcut?
"""


# %%
def layernorm_spec(x, gamma, beta, eps=1e-5):
    """Layer norm with mean and variance as exact fractions."""
    result = np.zeros(x.shape, x.dtype)
    for target, row in zip(result, x.tolist()):
        exact = [Fraction(v) for v in row]
        centre = Fraction(sum(exact), len(exact) or 1)
        offsets = [v - centre for v in exact]
        spread = sum(d**2 for d in offsets) / (len(exact) or 1)
        unit = [float(d) / math.sqrt(spread + Fraction(eps)) for d in offsets]
        target[:] = np.array(unit) * gamma.astype(float) + beta.astype(float)
    return result


# %% jupyter={"source_hidden": true}
# Typical mistakes, for the messages of the tests.
def layernorm_over(x, gamma, beta, root):
    """Layer norm that divides each row by `root`, right or wrong."""
    wide = x.astype(float).T
    return (((wide - wide.mean(axis=0)) / root).T * gamma + beta).astype(x.dtype)


def shortcut_variance(x):
    """The mean of the squares less the square of the mean, in float64."""
    wide = x.astype(float)
    return (wide**2).mean(axis=1) - wide.mean(axis=1) ** 2


# %% nbgrader={"grade": false, "grade_id": "layernorm_loops", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def layernorm_loops(x, gamma, beta, eps=1e-5):
    """Layer normalisation of every row, then a scale and a shift for each column.

        y[i, j] = gamma[j] * (x[i, j] - mean) / sqrt(var + eps) + beta[j]
        mean = sum of x[i, q] / n,  var = sum of (x[i, q] - mean)**2 / n

    x     : (m, n) float32 or float64, any stride; not modified
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    returns (m, n) of x's dtype, a new array; n = 0 gives (m, 0); sums are kept in float64
    raises TypeError and ValueError as check_float_array, ValueError also for a gamma or beta that
        is not (n,), with its name in the message, and for eps that is not > 0

    A row that holds NaN or an infinity is all NaN. J. L. Ba, J. R. Kiros, G. E. Hinton, Layer
    Normalization, arXiv:1607.06450. Two passes: T. F. Chan, G. H. Golub, R. J. LeVeque, Algorithms
    for Computing the Sample Variance, The American Statistician 37(3), 1983.

    >>> layernorm_loops(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    # Hint: a list of Python floats for each row makes both passes short. About 15 lines.
    ### BEGIN SOLUTION
    m, n = check_float_array("x", x, ndim=2)
    for name, vector in (("gamma", gamma), ("beta", beta)):
        if check_float_array(name, vector, ndim=1, dtype=x.dtype) != (n,):
            raise ValueError(
                f"{name} has shape {vector.shape}, but x has {n} columns: ({n},) needed"
            )
    if not eps > 0:
        raise ValueError(f"eps must be greater than 0, not {eps}")
    y = np.zeros((m, n), x.dtype)
    for i in range(m if n else 0):
        row = [float(x[i, j]) for j in range(n)]
        mean = sum(row) / n
        variance = sum((value - mean) * (value - mean) for value in row) / n
        root = math.sqrt(variance + eps)
        for j in range(n):
            y[i, j] = float(gamma[j]) * ((row[j] - mean) / root) + float(beta[j])
    return y
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "layernorm_loops-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, n, offset, eps in ((1, 2, 0, 1e-5), (3, 5, 0, 0.5), (2, 1, 0, 1e-5), (2, 7, 1e6, 1e-5)):
    x = (ramp(m, n) + offset).astype(np.float32)
    gamma, beta = ramp(n, seed=2, dtype=np.float32), ramp(n, seed=3, dtype=np.float32)
    want = layernorm_spec(x, gamma, beta, eps)
    try:
        got = expect_unchanged(layernorm_loops, x, gamma, beta, eps)
    except ZeroDivisionError:
        raise CheckFailed(
            f"layernorm_loops  x {x.shape}, eps={eps}: a division by zero\n"
            "  likely    the variance is divided by n - 1\n"
            "  try       layernorm divides by n, the number of columns"
        ) from None
    variance = x.astype(float).var(axis=1)
    sample, shortcut = variance * n / max(n - 1, 1), shortcut_variance(x)
    ones, zeros = np.ones(n), np.zeros(n)
    normed = partial(layernorm_over, x, gamma, beta)
    plain = partial(layernorm_over, x, ones, zeros)
    causes = {
        "the variance is divided by n - 1, not by n": lambda: normed(np.sqrt(sample + eps)),
        "eps stands outside the root": lambda: normed(np.sqrt(variance) + eps),
        "gamma and beta are not used": lambda: plain(np.sqrt(variance + eps)),
        f"cancellation: the mean of x*x less the squared mean came out as {shortcut[0]}": lambda: (
            normed(np.sqrt(np.abs(shortcut + eps)))
        ),
    }
    hint = "two passes in Python floats: the mean first, then the mean of (x - mean)**2"
    case = f"x ({m}, {n}) around {offset:,.0f}, eps={eps}"
    expect_close(got, want, inner=2, likely=causes, hint=hint, case=case)
x = ramp(2, 4)
for short in (np.ones(1), np.ones(3)):
    expect_raises(
        ValueError,
        layernorm_loops,
        x,
        short,
        np.zeros(4),
        match="gamma",
        hint="gamma must be (n,): one element would be stretched over the row without a word",
    )
expect_raises(ValueError, layernorm_loops, x, np.ones(4), np.zeros(4), 0.0, hint="eps must be > 0")

# %% nbgrader={"grade": true, "grade_id": "layernorm_loops-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("layernorm_loops-hidden").standard_normal
for m, n in ((1, 1), (2, 7), (7, 2), (3, 33), (0, 4), (3, 0)):
    for dtype in (np.float32, np.float64):
        x, gamma, beta = (normal(shape).astype(dtype) for shape in ((m, n), n, n))
        want = layernorm_spec(x, gamma, beta)
        got = expect_fresh(layernorm_loops, x, gamma, beta)
        expect_close(
            got,
            want,
            inner=n + 1,
            scale=10,
            allow_empty=True,
            hint="any size, both dtypes, a new array; n = 0 gives (m, 0)",
        )
x, gamma, beta = normal((3, 5)), normal(5), normal(5)
want = layernorm_spec(x, gamma, beta)
for name, view in layouts(x):
    got = expect_unchanged(layernorm_loops, view, gamma, beta)
    expect_close(got, want, inner=5, scale=10, hint=f"x may be {name}; leave it as it is")
want = layernorm_spec(x, gamma, beta, 0.25)
got = layernorm_loops(beta=beta[::-1].copy()[::-1], gamma=gamma, x=x, eps=0.25)
expect_close(got, want, inner=5, scale=10, hint="arguments by name, and vectors that are views")
for offset in (1e4, 1e6, -1e6):
    x = ramp(3, 5) + offset
    want = layernorm_spec(x, gamma, beta)
    got = layernorm_loops(x, gamma, beta)
    expect_close(got, want, inner=5, scale=10 * abs(offset), hint="rows far from 0 need two passes")
for level in (0.1, 1234.0, -1e6):
    x = np.full((2, 7), level, np.float32)
    want = layernorm_spec(x, np.ones(7, np.float32), ramp(7, dtype=np.float32))
    got = layernorm_loops(x, np.ones(7, np.float32), ramp(7, dtype=np.float32))
    expect_close(got, want, scale=1, hint="a constant row is beta: no deviation, no NaN")
x = np.array([[1e20, -1e20, 0, 0], [1, nan, 2, 3], [inf, 0, 0, 0], [1, 2, 3, 4]], np.float32)
unit, none = np.ones(4, np.float32), np.zeros(4, np.float32)
want = np.full((4, 4), nan, np.float32)
want[[0, 3]] = layernorm_spec(x[[0, 3]], unit, none)
got = layernorm_loops(x, unit, none)
expect_close(
    got, want, inner=4, hint="large squares fit into float64; NaN and inf stay in their row"
)
for eps in (0, -1e-5, nan):
    expect_raises(ValueError, layernorm_loops, x, unit, none, eps, hint="eps that is not > 0")
for short in (np.zeros(5, np.float32), np.zeros((1, 4), np.float32)):
    expect_raises(ValueError, layernorm_loops, x, unit, short, hint="beta that is not (n,)")
expect_raises(
    TypeError, layernorm_loops, x, unit.astype(float), none, hint="mixed dtypes: TypeError"
)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
gamma, beta = np.ones(64), np.zeros(64)
table = ["largest error for rows with the mean      two passes       shortcut"]
for offset in (0.0, 1e2, 1e4, 1e6):
    x = np.sin(np.arange(128.0)).reshape(2, 64) + offset
    want = layernorm_spec(x, gamma, beta)
    two_passes = np.max(np.abs(layernorm_loops(x, gamma, beta) - want))
    shortcut = layernorm_over(x, gamma, beta, np.sqrt(np.abs(shortcut_variance(x)) + 1e-5))
    one_pass = np.max(np.abs(shortcut - want))
    table.append(f"{offset:36,.0f} {two_passes:15.1e} {one_pass:14.1e}")
print(*table, sep="\n")
step = np.spacing(offset)
print(f"At {offset:,.0f} neighbouring float64 numbers lie {step:.1e} apart.")
print(f"Your error is {two_passes / step:,.1f} such steps, the shortcut's {one_pass / step:,.1f}.")

# %% [markdown]
"""
## Exercise 6: Convolution

A convolution slides a small window of weights over an image and takes one sum of products at each place. Images have channels (`c` of them), and each of the `o` filters has weights for every channel:

    y[f, i, j] = sum over q, u, v of  x[q, i + u - padding, j + v - padding] * w[f, q, u, v]

Where the index falls outside the image, `x` counts as 0. The image grows by `padding` on *both* sides, so the result has `h + 2*padding - r + 1` rows for a window of `r` rows.

<img alt="An image of 5 by 5 pixels with a border of zeros all around. A window of 3 by 3 lies over its right edge. Beside it the 3 by 3 weights, and the result of 5 by 5 with one lit pixel, y[1, 4], the one that the window makes." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='520' height='220' viewBox='0 0 520 220' font-family='sans-serif' font-size='14'><title>A window on a padded image</title>
<path d='M32 54h130v130h-130z' fill='rgb(86,180,233)' fill-opacity='0.45'/>
<path d='M236 80h78v78h-78z' fill='rgb(230,159,0)'/>
<path d='M472 80h26v26h-26z' fill='rgb(0,158,115)'/>
<path d='M6 28h182M6 54h182M6 80h182M6 106h182M6 132h182M6 158h182M6 184h182M6 210h182M6 28v182M32 28v182M58 28v182M84 28v182M110 28v182M136 28v182M162 28v182M188 28v182M236 80h78M236 106h78M236 132h78M236 158h78M236 80v78M262 80v78M288 80v78M314 80v78M368 54h130M368 80h130M368 106h130M368 132h130M368 158h130M368 184h130M368 54v130M394 54v130M420 54v130M446 54v130M472 54v130M498 54v130' fill='none' stroke='rgb(125,125,125)'/>
<path d='M110 54h78v78h-78z' fill='none' stroke='rgb(213,94,0)' stroke-width='4'/>
<g text-anchor='middle' fill='rgb(125,125,125)'>
<text font-size='12'><tspan x='19' y='46'>0</tspan><tspan x='45' y='46'>0</tspan><tspan x='71' y='46'>0</tspan><tspan x='97' y='46'>0</tspan><tspan x='123' y='46'>0</tspan><tspan x='149' y='46'>0</tspan><tspan x='175' y='46'>0</tspan><tspan x='19' y='72'>0</tspan><tspan x='175' y='72'>0</tspan><tspan x='19' y='98'>0</tspan><tspan x='175' y='98'>0</tspan><tspan x='19' y='124'>0</tspan><tspan x='175' y='124'>0</tspan><tspan x='19' y='150'>0</tspan><tspan x='175' y='150'>0</tspan><tspan x='19' y='176'>0</tspan><tspan x='175' y='176'>0</tspan><tspan x='19' y='202'>0</tspan><tspan x='45' y='202'>0</tspan><tspan x='71' y='202'>0</tspan><tspan x='97' y='202'>0</tspan><tspan x='123' y='202'>0</tspan><tspan x='149' y='202'>0</tspan><tspan x='175' y='202'>0</tspan></text>
<text x='97' y='18'>x with padding = 1</text><text x='275' y='70'>w</text><text x='433' y='44'>result</text>
<text x='212' y='126' font-size='22'>×</text><text x='341' y='126' font-size='22'>→</text>
<text x='433' y='206'>y[1, 4]</text>
</g>
</svg>">

Deep learning calls this convolution. Mathematics calls it cross-correlation, since the window is not flipped: weight `w[u, v]` meets pixel `x[i + u, j + v]`.

**Predict.** A colour image of 32 x 32 pixels, 16 filters of 3 x 3, padding 1. How many multiply-adds? From the table of exercise 3: how many seconds in your loops?
"""


# %%
def conv2d_spec(x, w, padding=0):
    """Each pixel sends its products to the results it belongs to; then each result adds up."""
    rows, columns = (n + 2 * padding - k + 1 for n, k in zip(x.shape[1:], w.shape[2:]))
    taps = {target: [] for target in np.ndindex(len(w), rows, columns)}
    for (channel, top, left), pixel in np.ndenumerate(x):
        for (target, up, back), weight in np.ndenumerate(w[:, channel]):
            products = taps.get((target, top + padding - up, left + padding - back), [])
            products.append(float(pixel) * float(weight))
    sums = [math.fsum(products) for products in taps.values()]
    return np.array(sums, x.dtype).reshape(len(w), rows, columns)


# %% nbgrader={"grade": false, "grade_id": "conv2d_loops", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def conv2d_loops(x, w, padding=0):
    """Convolution of an image with a bank of filters (cross-correlation: no flip).

        y[f, i, j] = sum over q, u, v of x[q, i + u - padding, j + v - padding] * w[f, q, u, v]

    where terms whose index lies outside the image are left out.

    x       : (c, height, width) float32 or float64, any stride; not modified
    w       : (o, c, r, s), the dtype of x; r, s >= 1; not modified
    padding : int >= 0, zeros on each of the four sides
    returns (o, height + 2*padding - r + 1, width + 2*padding - s + 1) of x's dtype, a new array;
        sums are kept in float64
    raises TypeError and ValueError as check_float_array and check_count, ValueError also for
        another number of channels and for a window larger than the padded image

    Shapes: V. Dumoulin, F. Visin, A guide to convolution arithmetic for deep learning,
    arXiv:1603.07285.

    >>> conv2d_loops(np.array([[[1.0, 2.0, 4.0]]]), np.array([[[[-1.0, 1.0]]]]))
    array([[[1., 2.]]])
    """
    # Hint: np.ndindex(o, rows, columns) is three loops in one. About 16 lines.
    ### BEGIN SOLUTION
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    padding = check_count("padding", padding, minimum=0)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    rows, columns = height + 2 * padding - r + 1, width + 2 * padding - s + 1
    if min(r, s, rows, columns) < 1:
        raise ValueError(f"w {w.shape} does not fit into x {x.shape} with padding {padding}")
    y = np.zeros((o, rows, columns), x.dtype)
    for f, i, j in np.ndindex(o, rows, columns):
        total = 0.0
        for q, u, v in np.ndindex(c, r, s):
            top, left = i + u - padding, j + v - padding
            if 0 <= top < height and 0 <= left < width:
                total += float(x[q, top, left]) * float(w[f, q, u, v])
        y[f, i, j] = total
    return y
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "conv2d_loops-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for image, bank, padding, dtype in (
    ((1, 3, 3), (1, 1, 2, 2), 0, np.float64),
    ((2, 3, 4), (3, 2, 2, 3), 1, np.float32),
    ((3, 5, 2), (2, 3, 1, 1), 0, np.float64),
):
    x, w = ramp(*image, dtype=dtype), ramp(*bank, seed=1, dtype=dtype)
    want = conv2d_spec(x, w, padding)
    got = expect_unchanged(conv2d_loops, x, w, padding)
    far = np.pad(x, ((0, 0), (0, 2 * padding), (0, 2 * padding)))
    flipped, spec = w[:, :, ::-1, ::-1], conv2d_spec
    causes = {
        "the window is flipped: w[u, v] meets x[i + u, j + v]": lambda: spec(x, flipped, padding),
        "only the first channel is used": lambda: spec(x[:1], w[:, :1], padding),
        "only the last channel is kept": lambda: spec(x[-1:], w[:, -1:], padding),
        "the zeros are missing on the near sides": lambda: spec(far, w),
    }
    hint = "both sides grow by padding: h + 2*padding - r + 1 rows; sums run over all channels"
    terms, scale = math.prod(bank[1:]), conv2d_spec(abs(x), abs(w), padding)
    case = f"x {image}, w {bank}, padding={padding}"
    expect_close(got, want, inner=terms, scale=scale, likely=causes, hint=hint, case=case)
x, w = ramp(2, 3, 3), ramp(1, 2, 3, 3)
for other in (ramp(1, 3, 3, 3), ramp(1, 2, 4, 3)):
    expect_raises(
        ValueError,
        conv2d_loops,
        x,
        other,
        hint="check the channels, and that the window fits into the padded image",
    )
expect_raises(
    TypeError, conv2d_loops, x, w, 1.0, match="padding", hint="check_count with minimum=0"
)

# %% nbgrader={"grade": true, "grade_id": "conv2d_loops-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("conv2d_loops-hidden").standard_normal
for image, bank, padding in (
    ((1, 1, 1), (1, 1, 1, 1), 0),
    ((2, 4, 7), (2, 2, 1, 1), 0),
    ((1, 7, 3), (2, 1, 3, 2), 0),
    ((2, 2, 5), (1, 2, 2, 5), 2),
    ((3, 3, 3), (0, 3, 2, 2), 0),
    ((0, 3, 4), (2, 0, 2, 2), 1),
    ((1, 0, 2), (1, 1, 2, 1), np.int64(1)),
):
    for dtype in (np.float32, np.float64):
        x, w = normal(image).astype(dtype), normal(bank).astype(dtype)
        want, scale = conv2d_spec(x, w, padding), conv2d_spec(abs(x), abs(w), padding)
        terms = math.prod(bank[1:])
        got = expect_fresh(conv2d_loops, x, w, padding)
        expect_close(
            got,
            want,
            inner=terms,
            scale=scale,
            allow_empty=True,
            hint="any size, also windows that are not square; both dtypes; a new array",
        )
left, right = normal((2, 4, 3)), normal((2, 2, 2, 2))
want, scale = conv2d_spec(left, right, 1), conv2d_spec(abs(left), abs(right), 1)
for (name, x), (_, w) in zip(layouts(left), layouts(right)):
    got = expect_unchanged(conv2d_loops, x, w, padding=1)
    expect_close(got, want, inner=8, scale=scale, hint=f"x and w may each be {name}")
x, w = np.array([[[3e7, 1, -3e7]]], np.float32), np.ones((1, 1, 1, 3), np.float32)
want = conv2d_spec(x, w)
expect_close(conv2d_loops(x, w), want, hint="sum in float64 for float32 too: float() each factor")
x, hint = np.array([[[1, nan, 2, 3]]]), "NaN reaches the results whose window covers it, no others"
for w, last in (([1.0, 2.0], 8.0), ([0.0, 2.0], 6.0)):
    want = np.array([[[nan, nan, last]]])
    expect_close(conv2d_loops(x, np.array([[[w]]])), want, hint=hint)
x, w = np.array([[[1e20, 1e20, 1]]], np.float32), np.array([[[[1e20, -1e20, 5]]]], np.float32)
hint = "float() each factor: a product of two float32 may be too large for one"
expect_close(conv2d_loops(x, w), np.full((1, 1, 1), 5, np.float32), hint=hint)
x, w = ramp(2, 3, 3), ramp(1, 2, 3, 3)
for padding in (-1, np.int64(-2)):
    expect_raises(
        ValueError,
        conv2d_loops,
        ramp(2, 7, 7),
        ramp(1, 2, 1, 1),
        padding,
        match="padding",
        hint="a negative padding: ValueError that names it",
    )
for other in (ramp(1, 2, 3, 4), ramp(1, 2, 0, 1), ramp(1, 1, 1, 1), ramp(2, 3, 3)):
    expect_raises(ValueError, conv2d_loops, x, other, hint="sizes that do not fit: ValueError")
expect_raises(TypeError, conv2d_loops, x, w.astype(np.float32), hint="mixed dtypes: TypeError")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

x, w = ramp(3, 16, 16), ramp(4, 3, 3, 3)
steps = w.size * 16 * 16
seconds = time_call(conv2d_loops, x, w, 1, repeats=3).median
print(f"{steps:,} multiply-adds in {seconds * 1e3:.1f} ms: {seconds / steps * 1e9:.0f} ns each.")
layer = 64 * 3 * 7 * 7 * 112 * 112
print(
    f"The first layer of ResNet-50 needs {layer:,} for one photo: "
    f"{layer * seconds / steps:,.0f} seconds at this rate."
)

# %% [markdown]
"""
## Use it: a network of two layers

Matrix product, ReLU, matrix product, softmax: that is a small neural network. This one looks at points of the plane and says how likely each lies inside a circle. The first layer's weights are random, the second's were fitted by NumPy. The cell runs the same network on your kernels and on NumPy.
"""

# %% tags=["raises-exception"]
#| measure
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


def softmax_numpy(x):
    powers = np.exp(x - x.max(axis=1)[:, None])
    return powers / powers.sum(axis=1)[:, None]


library = (np.matmul, relu_spec, softmax_numpy)
yours = (matmul_loops, relu_loops, softmax_loops)
try:
    answers = network(*yours)
except NotImplementedError:
    print("left out: matmul_loops, relu_loops or softmax_loops is not written yet")
else:
    right = np.mean((answers[:, 1] > 0.5) == inside)
    apart = np.max(np.abs(answers - network(*library)))
    slow, fast = (time_call(network, *kernels, repeats=3).median for kernels in (yours, library))
    print(f"right for {100 * right:.0f} % of {len(plane)} points")
    print(f"largest difference to NumPy {apart:.1e}")
    print(f"loops {slow * 1e3:.2f} ms, NumPy {fast * 1e3:.3f} ms: {slow / fast:,.0f} times faster")

# %% [markdown]
"""
## Scoreboard

Every rung so far. Each is compared with its specification before it is timed, and a rung that is missing or wrong is left out. Later modules add rungs.

**Predict.** The column `of peak` is the share of what one core of this machine does at most: multiply-adds for the products, bytes from the cache for the others. What does a loop in Python reach, nearest to 1 %, 0.1 % or 0.01 %?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, scoreboard

size = 48
a, b = ramp(size, size), ramp(size, size, seed=1)
x = ramp(16, 256)


def product_on_lists(a, b):
    return np.array(matmul_on_lists(a.tolist(), b.T.tolist()))


def agrees(want, inner=1):
    """A check for a rung: its result is `want` up to rounding."""
    return partial(expect_close, want=want, inner=inner)


product = dict(args=(a, b), check=agrees(matmul_spec(a, b), size), flops=2 * size**3)
positive = dict(args=(x,), check=agrees(np.where(x < 0, 0, x)), nbytes=2 * x.nbytes)
weights = dict(args=(x,), check=agrees(softmax_spec(x), x.shape[1]), nbytes=2 * x.nbytes)
scoreboard(
    [
        Rung("matmul_loops, arrays", matmul_loops, **product),
        Rung("the same on lists", product_on_lists, **product),
        Rung("NumPy a @ b", np.matmul, **product),
        Rung("relu_loops", relu_loops, **positive),
        Rung("np.maximum", relu_spec, **positive),
        Rung("softmax_loops", softmax_loops, **weights),
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
**1. Where do the cycles go?** A turn of the loop in `matmul_loops` takes many times as long as one multiply-add needs. What is the time spent on, and which of your measurements shows it?

### BEGIN SOLUTION
1 point: it goes into interpreting (bytecode, name and type look-ups, calls) and boxing: each `a[i, p]` builds the index tuple and a NumPy scalar object, `float()` makes another. The multiplication and the addition themselves are well below a few per cent.

1 point: a measurement from this notebook that shows it: the lists, which run the same additions and multiplications on objects that exist already, take a fraction of the time of arrays; and `a @ a` shows what the arithmetic alone costs. An answer with no number of its own gets at most 1 point. "Python is slow" alone: 0.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. Why keep a kernel that is thousands of times too slow?** You will not run it in any product. What is it for, and what would be lost if you replaced it by a faster version now?

### BEGIN SOLUTION
1 point: it is the specification: short enough to be checked by eye against the formula, so tests of every faster kernel can compare with it, and it fixes the rules for NaN, infinities, empty inputs, dtypes and errors.

1 point: a faster version would share tricks, and so mistakes, with what it is to test (same blocking, same order of sums, same library), or its own correctness would need a proof. Also accepted: slow code at small sizes is fast enough for tests.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. Why do these loops add up in float64, when later kernels add up float32 in float32?** Say what would go wrong in a test if the specification did as the fast kernels do.

### BEGIN SOLUTION
1 point: the error of the specification must be far below the error of the kernel under test; otherwise the difference that a test sees is the specification's own error, and a right kernel fails or the tolerance has to be widened until wrong ones pass.

1 point: how it is done and why it matters here: factors cast with `float()` because NumPy 2 keeps a Python float plus np.float32 in float32; one rounding at the end. Or: float32 kernels add up in float32 because twice as many lanes fit into a register and half the bytes move, and another order of sums is fine within the bound.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *`True` passes as a count.* `bool` is a subclass of `int`. Refuse it before anything else.
- *The product is right for square matrices only.* Two ranges are swapped, or `b[j, p]` stands for `b[p, j]`. Test with three different sizes.
- *float32 sums are off in the last digits.* `0.0 + np.float32(1)` is a float32. Cast each factor.
- *A softmax row is NaN.* It held only `-inf`: the maximum is `-inf`, and `-inf - -inf` is NaN.
- *Layer norm raises "math domain error".* The shortcut made the variance negative.
- *The convolution has one row too many or too few.* Count for one dimension: `h + 2*padding` positions, a window of `r`, so `h + 2*padding - r + 1` places.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 02` says the same;
- you have compared your predictions with what the cells printed, above all the lists of exercise 3;
- the three questions have an answer;
- `tito export 02` has written `tinykernels/loops.py`, and you find your own words in it.

## In production

Large libraries keep slow, obvious kernels for the same purpose. oneDNN has `ref_` kernels beside its fast ones, and its test driver, benchdnn, compares with a plain reference of its own. ONNX ships a reference evaluator in Python and NumPy that shows what each operator means. NumPy's own `@` falls back to three plain loops for types that BLAS does not know. What changes on the way to production is the speed; the specification stays.

**References**

- D. Goldberg, *What Every Computer Scientist Should Know About Floating-Point Arithmetic*, ACM Computing Surveys 23(1), 1991.
- N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, SIAM 2002: chapter 3 on inner products, chapter 4 on summation.
- J. L. Ba, J. R. Kiros, G. E. Hinton, *Layer Normalization*, arXiv:1607.06450, 2016.
- V. Dumoulin, F. Visin, *A guide to convolution arithmetic for deep learning*, arXiv:1603.07285, 2016.
- NEP 50, *Promotion rules for Python scalars*: why a Python float gives way to a `np.float32`.

## Next

In a terminal:

    tito test 02       the visible tests, in a process of their own
    tito export 02     your kernels become tinykernels/loops.py
    tito submit 02     the file to hand in

Then module 03: the same kernels without loops of your own.
"""

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
# 09 Quantize: weights of eight bits, and of four

| | |
|---|---|
| hours | 6 |
| difficulty | 4 of 5 |
| needs | 03_vectorize, 07_numba, 08_simd |
| code goes to | `tinykernels/quantized.py` |
| points | 47 by tests, 6 by hand |

After this module you can

- put floats on a grid of 255 whole numbers, and say how far each of them has moved at most;
- multiply matrices of bytes exactly, by three routes that a wrong type would spoil without a word;
- use an instruction that does 64 products of bytes at once, and arrange memory so that it can;
- store a weight in four bits, and multiply by such weights without ever writing them out as floats.

At the end a weight costs five bits instead of 32, and you know what that did to the answer.

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
#| default_exp quantized
#| export
import math
import operator

import numpy as np

from tinykernels.loops import check_float_array

# %% jupyter={"source_hidden": true}
# Given: what the tests and measurements below use.
from functools import partial

from tito.checks import (
    claim,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_unchanged,
    points,
    rng,
    speed,
)


def quarters(*shape, most=127, seed=0, dtype=np.float32):
    """Quarters between -most and most in mixed order, most itself among them: exact as floats."""
    numbers = (37 * np.arange(math.prod(shape)) + 11 * seed) % (8 * most + 1) - 4 * most
    numbers[:1] = 4 * most
    return (numbers / 4).astype(dtype).reshape(shape)


def whole(*shape, seed=0):
    """int8 numbers from -128 to 127 in mixed order."""
    numbers = (37 * np.arange(math.prod(shape)) + 11 * seed) % 256 - 128
    return numbers.astype(np.int8).reshape(shape)


def between_ties(draw, shape, most=127):
    """Numbers of steps from -most to most, none near the middle between two whole numbers.

    There every way to divide and to round gives the same whole number.
    """
    near = draw.uniform(-0.4, 0.4, shape)
    return np.clip(draw.integers(-most, most + 1, shape) + near, -most, most)


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
    yield "every second element of a larger array", stepped
    yield "a reversed view", np.flip(np.flip(x).copy())
    yield "a read-only array", frozen
    yield "an unaligned array", unaligned


def wrapped(numbers):
    """Whole numbers cast to int8 as they are: 128 becomes -128."""
    return numbers.astype(np.int64).astype(np.int8)


# %% jupyter={"source_hidden": true}
# Given: plots that read on light and on dark pages.
BLUE, ORANGE, GREEN, RED = "#56B4E9", "#E69F00", "#009E73", "#D55E00"


def new_plots(title, *labels, height=3.4, width=4.6):
    """Empty plots side by side for light and dark pages; an empty list without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("No plot: matplotlib is not installed. The numbers are printed.")
        return []
    grey = "0.5"
    figure = Figure(figsize=(width * len(labels), height), facecolor="none", layout="constrained")
    figure.suptitle(title, color=grey, fontsize=11)
    plots = figure.subplots(1, len(labels), squeeze=False)[0]
    for axes, (x, y) in zip(plots, labels):
        axes.set_facecolor("none")
        axes.set_xlabel(x, color=grey)
        axes.set_ylabel(y, color=grey)
        axes.tick_params(which="both", colors=grey)
        axes.spines[:].set_color(grey)
    return list(plots)


def show_plots(plots, alt):
    """Show the figure, with words for those who do not see it."""
    from io import BytesIO

    from IPython.display import Image, display

    png = BytesIO()
    plots[0].figure.savefig(png, format="png", dpi=110)
    display(Image(png.getvalue(), alt=alt))


# %% [markdown]
"""
## The gap

A byte is a quarter of a float32. Four times as many of them fit into a register, into a cache, through the bus from memory. So a product of two matrices of bytes should take a quarter of the time. The cell below tries it: the same 256 x 256 matrix once as float32, once as int8, multiplied by NumPy. Bytes alone would overflow at once, so NumPy gets them as int32.

**Predict.** How many times as fast as the floats are the whole numbers?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call
from tito.machine.blas import one_thread

small = whole(256, 256)
floats = small.astype(np.float32)


def by_integers(a, b):
    return a.astype(np.int32) @ b.astype(np.int32)


with one_thread():
    of_floats = time_call(np.matmul, floats, floats).median
    of_bytes = time_call(by_integers, small, small, repeats=3).median
print(f"float32: {floats.nbytes:7,} bytes a matrix, {of_floats * 1e3:8.2f} ms")
print(f"int8:    {small.nbytes:7,} bytes a matrix, {of_bytes * 1e3:8.2f} ms")
print(f"a quarter of the bytes, and {of_bytes / of_floats:.0f} times the time")

# %% [markdown]
"""
"Integers are faster" is not a law. NumPy's product of floats is a library's, with the kernel of module 08 in it; its product of whole numbers is three plain loops. This module makes the sentence true, first by a trick, then by the right instruction.

**Rules that hold for all kernels here.** Inputs are never changed. Wrong types raise `TypeError`, wrong sizes and numbers `ValueError`, before any work and with a message. NaN and infinity have no place on a grid of whole numbers: they are a `ValueError`. An empty input is no special case. Each exercise gives you a specification to compare with, `..._spec`; a kernel that calls it earns nothing.

The next cell holds the door: what every function asks about its arguments. Read the names and the first lines; you will call them.
"""


# %%
#| export
TINY = np.finfo(np.float32).tiny  # the smallest float32 with all its digits, about 1e-38


def finite_floats(name, x, ndim=None):
    """The values of x as float32, if all are finite.

    name : what the caller calls the argument; used in messages
    x    : float32 or float64 array; float64 is rounded to float32
    ndim : the number of axes it must have; None: one or more
    returns x itself if it is float32, else a new array
    raises TypeError and ValueError as check_float_array, ValueError for NaN and infinity, and for
        what is too large for float32
    """
    check_float_array(name, x, ndim=ndim)
    with np.errstate(over="ignore"):
        y = x.astype(np.float32, copy=False)
    if not np.isfinite(y).all():
        raise ValueError(f"{name} has NaN, infinity or a number too large for float32")
    return y


def check_scale(name, scale, count=None):
    """The scale as float32: one positive finite number, or an array of `count` of them.

    raises TypeError for what is no number, ValueError for another shape or a number that is zero,
        negative, NaN, or infinite in float32
    """
    values = np.asarray(scale)
    if values.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be a number, not {scale!r}")
    if values.shape not in ((), (count,)):
        wanted = "a number" if count is None else f"a number or an array of {count}"
        raise ValueError(f"the shape of {name} is {values.shape}: {wanted} needed")
    with np.errstate(over="ignore", under="ignore"):
        values = values.astype(np.float32)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"{name} must be positive and finite in float32, not {scale!r}")
    return values[()]


def check_axis(axis, ndim):
    """The axis as a number from 0 to ndim - 1; -1 is the last one.

    raises TypeError for what is no whole number, ValueError for an axis that is not there
    """
    if isinstance(axis, bool):
        raise TypeError(f"axis must be a whole number, not {axis!r}")
    try:
        place = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis must be a whole number, not {axis!r}") from None
    if not -ndim <= place < ndim:
        raise ValueError(f"axis {axis} of an array with {ndim} axes")
    return place % ndim


def check_bytes(name, q, ndim=None, dtype=np.int8):
    """The shape of q, if it is an array of int8 (or of `dtype`).

    raises TypeError for another dtype and for lists, ValueError for another number of axes
    """
    found = getattr(q, "dtype", None)
    if found is None:
        raise TypeError(f"{name} is a {type(q).__name__}: pass an array of {np.dtype(dtype)}")
    if found != dtype:
        raise TypeError(f"{name} is {found}: {np.dtype(dtype)} needed")
    if q.ndim != ndim and (ndim is not None or q.ndim == 0):
        raise ValueError(f"the shape of {name} is {q.shape}: {ndim or '1 or more'} axes needed")
    return q.shape


# %% [markdown]
r"""
## Exercise 1: 255 places for every number

Choose a step, the *scale* $s$, and store how many steps a number is: $q = \mathrm{round}(x / s)$, a whole number from -127 to 127. To read it back, multiply: $x \approx s\,q$. A number moves by half a step at most, as long as it is not beyond the ends; beyond them it is *clipped*.
"""

# %% jupyter={"source_hidden": true} tags=["raises-exception"]
#| measure
if plots := new_plots("x between -1.25 and 1.25, with scale 1/127", ("x", ""), height=2.3, width=8):
    line = plots[0]
    steps = np.arange(-127, 128) / 127
    line.vlines(steps, 0, 1, color=BLUE, lw=0.6)
    line.vlines(steps[::127], 0, 1.35, color=BLUE, lw=2)
    for left in (-1.25, 1):
        line.axvspan(left, left + 0.25, color=ORANGE, alpha=0.5, lw=0)
    for place, words in ((-1, "-127"), (0, "0"), (1, "127")):
        line.text(place, 1.45, words, ha="center", color="0.5")
    for x in (-1.125, 1.125):
        line.text(x, 0.5, "clipped", ha="center", va="center", color="0.2")
    line.set(xlim=(-1.25, 1.25), ylim=(0, 1.8), yticks=[])
    show_plots(plots, "A number line from -1.25 to 1.25 with 255 marks between -1 and 1")

# %% [markdown]
r"""
*Figure: a number line with 255 marks from -1 to 1, those for -127, 0 and 127 longer. Beyond both ends an orange area says "clipped".*

Why -127 and not -128? So that $q$ and $-q$ both exist: the grid is *symmetric*, and 0.0 is one of its marks.

Three things go wrong in one line of code. **Rounding**: a cast cuts off what stands behind the point, which pulls all numbers towards zero; `np.rint` goes to the nearest whole number, and from the middle to the even one. **Clipping**: a cast keeps the lowest eight bits, so 128 becomes -128. Clip *before* the cast. **The scale**: it comes from the largest number. One loud row, and all the others share a few marks. So there may be one scale for each index along an axis: `axis=0` gives each row of a matrix its own.

The rules at the ends: where all numbers are 0 the scale is 1, and it is never smaller than `TINY`, since what is smaller has hardly any digits left.

**Predict.** A matrix with normal numbers, in which one row of 64 is a hundred times as loud. How much smaller does the error of the others get with a scale for each row?
"""


# %%
def quantize_spec(x, axis=None):
    """(q, scale) number by number, in Python's floats; round() goes to the even one from a tie."""
    numbers = x.astype(np.float64)
    lines = [numbers.ravel()] if axis is None else list(np.moveaxis(numbers, axis, 0))
    scales = []
    for line in lines:
        largest = max((abs(v) for v in line.ravel().tolist()), default=0.0)
        scales.append(max(largest / 127, float(TINY)) if largest else 1.0)
    steps = np.array(scales) if axis is not None else np.float64(scales[0])
    at = steps if axis is None else np.moveaxis(steps[(...,) + (None,) * (x.ndim - 1)], 0, axis)
    q = [round(v) for v in (numbers / at).ravel().tolist()]
    return np.array(q, np.int8).reshape(x.shape), steps.astype(np.float32)[()]


# %% nbgrader={"grade": false, "grade_id": "quantize", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def round_to_int8(x, scale):
    """The nearest whole number of steps, no further than 127 from 0.

        q = clip(rint(x / scale), -127, 127)

    x     : finite float32 array; not modified
    scale : float32, a number or an array that broadcasts against x
    returns a new int8 array of x's shape; from the middle between two numbers to the even one

    >>> round_to_int8(np.float32([0.5, 1.5, 400.0]), np.float32(1))
    array([  0,   2, 127], dtype=int8)
    """
    with np.errstate(over="ignore"):  # x / scale may be infinite: the clip brings it back
        # Hint: three NumPy functions, and astype after them. About 2 lines.
        ### BEGIN SOLUTION
        steps = np.rint(x / scale)
        return np.clip(steps, -127, 127).astype(np.int8)
        ### END SOLUTION


def quantize(x, axis=None):
    """Floats as whole numbers of steps from -127 to 127.

        scale = max(largest / 127, TINY), where largest = max |x|; 1 where largest is 0
        q = round_to_int8(x, scale)

    x    : float32 or float64, one axis or more, any stride; not modified
    axis : None for one scale, or the axis each index of which has a scale of its own
    returns (q, scale): int8 array of x's shape, and np.float32 or a float32 array (x.shape[axis],)
    raises TypeError and ValueError as finite_floats and check_axis

    >>> quantize(np.array([0.0, -2.54, 1.0]))
    (array([   0, -127,   50], dtype=int8), np.float32(0.02))
    """
    x = finite_floats("x", x)
    rest = None  # the axes over which the largest is looked for
    if axis is not None:
        axis = check_axis(axis, x.ndim)
        rest = tuple(i for i in range(x.ndim) if i != axis)
    # Hint: np.max takes axis=rest, keepdims=True, and initial=0 for the empty ones. Give back
    #       scale.ravel(), or scale.item() as np.float32. About 5 lines.
    ### BEGIN SOLUTION
    largest = np.max(np.abs(x), axis=rest, keepdims=True, initial=0)
    scale = np.maximum(largest / np.float32(127), TINY)
    scale[largest == 0] = 1
    q = round_to_int8(x, scale)
    return q, np.float32(scale.item()) if axis is None else scale.ravel()
    ### END SOLUTION


def dequantize(q, scale, axis=None):
    """What the whole numbers stand for: q * scale.

    q     : int8, one axis or more; not modified
    scale : positive number; or, with an axis, a number or one for each index along it
    axis  : as in quantize
    returns a new float32 array of q's shape
    raises TypeError and ValueError as check_bytes, check_axis and check_scale

    >>> dequantize(np.array([[1, -2]], np.int8), np.array([0.5, 2.0]), axis=1)
    array([[ 0.5, -4. ]], dtype=float32)
    """
    shape = check_bytes("q", q)
    if axis is not None:
        axis = check_axis(axis, q.ndim)
    scale = check_scale("scale", scale, None if axis is None else shape[axis])
    # Hint: an array of scales needs a shape with q.ndim axes: its length at place `axis`, 1 at the
    #       others. About 4 lines.
    ### BEGIN SOLUTION
    if scale.ndim:
        along = [1] * q.ndim
        along[axis] = scale.size
        scale = scale.reshape(along)
    return q * scale
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "quantize-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for count, factor in ((9, 1.0), (40, 0.5), (1, 2.0)):
    x, scale = quarters(count, most=300) * np.float32(factor), np.float32(factor)
    want = np.array([min(max(round(v), -127), 127) for v in (x / scale).tolist()], np.int8)
    causes = {
        "cast before it was clipped: 128 became -128": lambda: wrapped(np.rint(x / scale)),
        "astype alone truncates toward zero: rint first": lambda: wrapped(
            np.clip(x / scale, -127, 127)
        ),
        "-128 is not on the grid: clip at -127": lambda: wrapped(
            np.clip(np.rint(x / scale), -128, 127)
        ),
        "from the middle it goes to the even number, as np.rint does": lambda: wrapped(
            np.clip(np.floor(x / scale + 0.5), -127, 127)
        ),
        "multiplied by the scale: how many steps is x?": lambda: wrapped(
            np.clip(np.rint(x * scale), -127, 127)
        ),
    }
    got = expect_unchanged(round_to_int8, x, scale)
    expect_equal(got, want, likely=causes, hint="clip(rint(x / scale), -127, 127), then astype")
shapes = (((6,), None), ((3, 4), None), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), -1))
for shape, axis in shapes:
    x = quarters(*shape, seed=1) * np.float32(0.5)
    x[-1] /= 2
    q, scale = quantize_spec(x, axis)
    got = expect_unchanged(quantize, x, axis)
    expect_equal(len(got), 2, hint="return q, scale")
    causes = {}
    if axis is not None:
        others = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
        causes["one scale for all of x: the largest of each index along the axis"] = lambda: (
            np.full(scale.shape, np.abs(x).max() / 127, np.float32)
        )
        causes["the largest along the axis: it is looked for over all the others"] = lambda: (
            np.abs(x).max(axis) / np.float32(127)
        )
    causes["max |x| / 128: then 128 would be a step, and 128 is no int8"] = lambda: (
        scale * (127 / np.float32(128))
    )
    rest = None if axis is None else others
    signed = np.max(x, rest, initial=0).astype(np.float32)
    causes["the largest number, with its sign: np.abs first"] = lambda: np.where(
        signed == 0, np.float32(1), signed / np.float32(127)
    )[()]
    hint = "scale: one np.float32, or one for each index along the axis"
    expect_close(got[1], scale, inner=2, likely=causes, hint=hint)
    expect_equal(got[0], q, hint="keepdims=True, or a scale of shape (n,) meets the other axis")
x = np.float32([[0, 0, 0], [1, -4, 2]])
got = expect_unchanged(quantize, x, 0)
hint = "a row of zeros: scale 1"
expect_close(got[1], np.array([1, 4 / 127], np.float32), inner=2, hint=hint)
expect_equal(got[0][0].copy(), np.zeros(3, np.int8), hint=hint)
expect_raises(ValueError, quantize, np.array([1, np.nan]), hint="finite_floats looks for NaN")
for shape, axis in shapes:
    q, scale = quantize_spec(quarters(*shape, seed=1), axis)
    at = scale if axis is None else np.moveaxis(scale[(...,) + (None,) * (q.ndim - 1)], 0, axis)
    want = (q.astype(np.float64) * at).astype(np.float32)
    causes = {"divided by the scale": lambda: q / at}
    got = expect_unchanged(dequantize, q, scale, axis)
    hint = "q * scale, with the scale of each index along the axis"
    expect_close(got, want, inner=2, likely=causes, hint=hint)
expect_raises(TypeError, dequantize, np.ones(3), 1.0, hint="check_bytes: whole numbers only")

# %% nbgrader={"grade": true, "grade_id": "quantize-hidden", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 3 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("quantize-hidden")
for shape, axis in (((1,), None), ((17, 5), 0), ((17, 5), -1), ((2, 7, 3), 1), ((33, 2), None)):
    for dtype in (np.float32, np.float64):
        steps = between_ties(draw, shape)
        lines = steps.reshape(1, -1) if axis is None else np.moveaxis(steps, axis, 0)
        for line in lines:
            line[(0,) * line.ndim] = draw.choice([-127, 127])
        unit = draw.uniform(0.01, 3, 1 if axis is None else len(lines))
        x = (lines * unit[(...,) + (None,) * (lines.ndim - 1)]).astype(dtype)
        x = x.reshape(shape) if axis is None else np.moveaxis(x, 0, axis)
        hint = "any number of axes, both dtypes, axes counted from the end too"
        got = expect_unchanged(quantize, x, axis)
        want = np.rint(steps).astype(np.int8)
        scale = unit.astype(np.float32) if axis is not None else np.float32(unit[0])
        expect_close(got[1], scale, inner=3, hint=hint)
        expect_equal(got[0], want, hint=hint)
        back = expect_fresh(dequantize, got[0], got[1], axis)
        apart = np.abs(back.astype(np.float64) - x).max() / unit.max()
        expect_equal(bool(apart <= 0.5001), True, hint="no number moves by more than half a step")
x = np.arange(-127, 128).astype(np.float32)
got = expect_fresh(quantize, x)
expect_equal(got[0], x.astype(np.int8), hint="-128 never comes out, -127 does")
for name, y in layouts(quarters(4, 6)):
    q, scale = quantize_spec(y, 1)
    got = expect_unchanged(quantize, y, 1)
    expect_equal(got[0], q, hint=f"x may be {name}")
    expect_close(got[1], scale, inner=2, hint=f"x may be {name}")
for small in (1e-45, 1e-40, 1e-38, 1e-36):
    x = np.array([small, -small / 3, 0], np.float32)
    got = expect_unchanged(quantize, x)
    apart = np.abs(got[0] * np.float64(got[1]) - x).max() <= 0.501 * got[1]
    hint = "very small numbers: a scale below TINY has no digits left"
    expect_equal(bool(apart), True, hint=hint)
    expect_equal(bool(got[1] >= TINY and got[1] <= 1e-35), True, hint=hint)
x = np.float32([3e38, -1, 1e38])
hint = "the largest numbers of float32 have a scale too, and overflow is clipped"
expect_equal(expect_unchanged(quantize, x)[0], np.array([127, 0, 42], np.int8), hint=hint)
got = expect_unchanged(round_to_int8, x, np.float32(1e-30))
expect_equal(got, np.array([127, -127, 127], np.int8), hint=hint)
for axis in (0, 1, 2):
    q, scale = quantize_spec(quarters(1, 1, 1), axis)
    got = expect_unchanged(quantize, quarters(1, 1, 1), axis)
    expect_equal(got[0], q, hint="an axis with one index: its scale is still an array")
    expect_close(got[1], scale, inner=2, hint="an axis with one index: the scale has shape (1,)")
for shape, axis in (((0,), None), ((0, 3), 0), ((0, 3), 1), ((3, 0), 0)):
    q, scale = quantize_spec(np.zeros(shape), axis)
    got = quantize(np.zeros(shape), axis)
    expect_equal(got[0], q, hint="empty arrays have a q and a scale", allow_empty=True)
    expect_equal(got[1], scale, hint="empty arrays: scale 1, initial=0", allow_empty=True)
got = expect_unchanged(dequantize, whole(3, 3), 0.5, 1)
want = (whole(3, 3) * np.float64(0.5)).astype(np.float32)
expect_equal(got, want, hint="one scale for all is right with an axis too; -128 is read like any")
scale = np.array([1, 2, 4], np.float32)
for axis, at in ((0, scale[:, None]), (1, scale), (-2, scale[:, None])):
    got = expect_unchanged(dequantize, whole(3, 3), scale, axis)
    want = (whole(3, 3) * at.astype(np.float64)).astype(np.float32)
    expect_equal(got, want, hint="a square matrix: the scales belong to the axis that is named")
for wrong in (np.array([np.inf]), np.array([1e39])):
    expect_raises(ValueError, quantize, wrong, hint="infinite, also in float32: ValueError")
expect_raises(ValueError, quantize, x, 1, hint="an axis that is not there")
expect_raises(TypeError, quantize, [1.0], hint="lists: TypeError from the door")
expect_raises(TypeError, quantize, np.arange(3), hint="whole numbers: TypeError from the door")
expect_raises(ValueError, dequantize, whole(2, 3), np.ones(2), 1, hint="two scales for three")
expect_raises(ValueError, dequantize, whole(2, 3), 0.0, hint="a scale is positive")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
loud = np.random.default_rng(9).standard_normal((64, 512)).astype(np.float32)
loud[20] *= 100
try:
    errors = {}
    for name, axis in (("one scale", None), ("a scale for each row", 0)):
        q, scale = quantize(loud, axis)
        errors[name] = (dequantize(q, scale, axis) - loud)[np.arange(64) != 20].ravel()
except NotImplementedError:
    print("left out: quantize or dequantize is not written yet")
else:
    for name, error in errors.items():
        print(f"{name:22} largest error of the quiet rows {np.abs(error).max():.4f}", end="")
        print(f", typical {np.sqrt(np.mean(error**2)):.4f}")
    typical = [np.sqrt(np.mean(error**2)) for error in errors.values()]
    print(f"{typical[0] / typical[1]:.0f} times smaller")
    plots = new_plots("Error of the quiet rows", ("error", "numbers"), ("error", "numbers"))
    for axes, (name, error), colour in zip(plots, errors.items(), (ORANGE, BLUE)):
        axes.hist(error, bins=60, color=colour)
        axes.locator_params(axis="x", nbins=5)
        axes.set_title(name, color="0.5", fontsize=10)
    if plots:
        show_plots(plots, "Two histograms of errors: wide for one scale, narrow for one a row")

# %% [markdown]
"""
*Figure: two histograms of the error. Left, with one scale, the errors are as large as the numbers themselves: nearly every quiet number became 0, or one step up or down. Right, with a scale for each row, they are spread evenly over half a step to both sides.*

**How many bits does it take?** The same idea with fewer marks: the next cell quantizes normal numbers to 2 to 8 bits, and prints the ratio of signal to noise in decibels. Each bit halves the step.

**Predict.** By how many decibels does it grow with each bit? A factor of two in size is 6 dB.
"""

# %% tags=["raises-exception"]
#| measure
normal = np.random.default_rng(9).standard_normal(20_000)
bits, noise = range(2, 9), []
for b in bits:
    most = 2 ** (b - 1) - 1
    scale = np.abs(normal).max() / most
    error = np.clip(np.rint(normal / scale), -most, most) * scale - normal
    noise.append(10 * np.log10(np.mean(normal**2) / np.mean(error**2)))
    print(f"{b} bits: {noise[-1]:5.1f} dB")
print(f"from 4 bits on, {(noise[-1] - noise[2]) / 4:.1f} dB a bit")
if plots := new_plots("Normal numbers, one scale", ("bits", "signal / noise in dB")):
    plots[0].plot(bits, noise, "o-", color=BLUE)
    show_plots(plots, "A nearly straight line upwards from 2 to 8 bits")

# %% [markdown]
r"""
*Figure: signal to noise against bits, a line that rises steadily.*

## Exercise 2: a grid that is not in the middle

After a ReLU all numbers are positive, and half of a symmetric grid would lie idle. An *affine* grid puts its 256 marks where the numbers are:

$$x \approx s\,(q - z), \qquad q = \mathrm{round}(x / s) + z$$

with `q` from 0 to 255 and a *zero point* `z`, the `q` that stands for 0.0. Zero must be on the grid exactly: it fills up the edges of images, it is what ReLU makes, it means "nothing there". So `z` is a whole number, and the range is widened until 0 is in it.

    all positive        0 ........................... 255
                        0.0                          max           z = 0
    mixed               0 ....... z ................. 255
                       min       0.0                 max
    all negative        0 ........................... 255
                       min                           0.0           z = 255

**Predict.** For numbers from 2 to 3 the widened range begins at 0. What does that cost in precision?
"""


# %%
def quantize_affine_spec(x):
    """(q, scale, zero) number by number, in Python's floats."""
    numbers = [0.0, *x.astype(np.float64).ravel().tolist()]
    span = max(numbers) - min(numbers)
    scale = max(span / 255, float(TINY)) if span else 1.0
    zero = round(-min(numbers) / scale)
    q = [min(max(round(v / scale) + zero, 0), 255) for v in numbers[1:]]
    return np.array(q, np.uint8).reshape(x.shape), np.float32(scale), zero


# %% nbgrader={"grade": false, "grade_id": "quantize_affine", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def quantize_affine(x):
    """Floats as whole numbers of steps from 0 to 255, with 0.0 exactly on the grid.

        scale = max((high - low) / 255, TINY) with low = min(x, 0), high = max(x, 0)
                over all of x; 1 where both are 0
        zero = rint(-low / scale)
        q = clip(rint(x / scale) + zero, 0, 255)

    x : float32 or float64, one axis or more, any stride; not modified
    returns (q, scale, zero): uint8 array of x's shape, np.float32, int from 0 to 255
    raises TypeError and ValueError as finite_floats

    >>> quantize_affine(np.array([-1.0, 0.0, 1.55]))
    (array([  0, 100, 255], dtype=uint8), np.float32(0.01), 100)
    """
    # Hint: finite_floats; float(x.min(initial=0)) and its twin widen the range and give Python's
    #       floats, which do not overflow here. About 8 lines.
    ### BEGIN SOLUTION
    x = finite_floats("x", x)
    low, high = float(x.min(initial=0)), float(x.max(initial=0))
    scale = np.float32(max((high - low) / 255, TINY))
    if low == high:
        scale = np.float32(1)
    zero = round(-low / float(scale))
    q = np.clip(np.rint(x / scale) + np.float32(zero), 0, 255)
    return q.astype(np.uint8), scale, zero
    ### END SOLUTION


def dequantize_affine(q, scale, zero):
    """What the whole numbers stand for: (q - zero) * scale.

    q     : uint8, one axis or more; not modified
    scale : positive number
    zero  : int from 0 to 255
    returns a new float32 array of q's shape
    raises TypeError and ValueError as check_bytes and check_scale

    >>> dequantize_affine(np.array([0, 100, 255], np.uint8), 0.01, 100)
    array([-1.  ,  0.  ,  1.55], dtype=float32)
    """
    check_bytes("q", q, dtype=np.uint8)
    scale = check_scale("scale", scale)
    # Hint: a uint8 has no sign: another type first, then minus zero. About 1 line.
    ### BEGIN SOLUTION
    return (q.astype(np.float32) - np.float32(zero)) * scale
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "quantize_affine-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for name, steps in (
    ("mixed", [-100, -3.25, 0, 7, 20.25, 155]),
    ("mixed, low between two marks", [-99.75, -3.25, 0, 155.25]),
    ("mixed, both ends half a step off", [-127.5, 0, 127.5]),
    ("all positive", [20, 30.25, 128, 255]),
    ("all negative", [-255, -129.25, -128, -3]),
    ("one value", [255, 255]),
):
    x = (np.array(steps) * 0.25).astype(np.float32)
    q, scale, zero = quantize_affine_spec(x)
    got = expect_unchanged(quantize_affine, x)
    expect_equal(len(got), 3, hint="return q, scale, zero")
    narrow = (float(x.max()) - float(x.min())) / 255
    causes = {
        "the range was not widened to 0: 0.0 is not representable": lambda: np.float32(narrow),
        "256 marks have 255 steps between them": lambda: scale * 255 / np.float32(256),
    }
    hint = f"{name}: low = min(x, 0), high = max(x, 0), 255 steps between them"
    expect_close(got[1], scale, inner=2, likely=causes, hint=hint)
    hint = f"{name}: zero is an int, the q of 0.0; with a float 0.0 would not come back exactly"
    causes = {
        "zero has the wrong sign": lambda: -zero,
        "int() cuts off: round(-low / scale)": lambda: int(-min(float(x.min()), 0) / float(scale)),
    }
    expect_equal(got[2], zero, likely=causes, hint=hint)
    causes = {
        "the zero point was not added": lambda: np.clip(np.rint(x / scale), 0, 255),
        "cast before it was clipped: 256 became 0": lambda: (
            (np.rint(x / scale) + zero).astype(int).astype(np.uint8)
        ),
        "x - low was rounded in one: round x / scale alone, and add zero to it": lambda: np.clip(
            np.rint((x - min(x.min(), 0)) / scale), 0, 255
        ),
        "astype alone truncates: rint first": lambda: np.clip(x / scale + zero, 0, 255).astype(int),
    }
    hint = f"{name}: clip(rint(x / scale) + zero, 0, 255), then astype(np.uint8)"
    expect_equal(got[0], q, likely=causes, hint=hint)
    want = ((q.astype(int) - zero) * np.float64(scale)).astype(np.float32)
    causes = {
        "q - zero was worked out in uint8 and wrapped": lambda: (q - np.uint8(zero)) * scale,
        "the zero point was not subtracted": lambda: q * scale,
    }
    got = expect_unchanged(dequantize_affine, q, scale, zero)
    hint = "(q - zero) * scale in float32"
    expect_close(got, want, inner=2, scale=scale * 255, likely=causes, hint=hint)
got = expect_unchanged(quantize_affine, np.zeros(3, np.float32))
hint = "only zeros: scale 1, zero 0"
expect_equal(got, (np.zeros(3, np.uint8), np.float32(1), 0), hint=hint)
expect_raises(ValueError, quantize_affine, np.array([np.inf]), hint="finite_floats comes first")

# %% nbgrader={"grade": true, "grade_id": "quantize_affine-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("quantize_affine-hidden")
for low, high in ((0, 255), (-255, 0), (-1, 254), (-200, 55), (-254, 1)):
    for dtype in (np.float32, np.float64):
        unit = draw.uniform(0.01, 3)
        steps = draw.integers(low, high + 1, (5, 7)) + draw.uniform(-0.4, 0.4, (5, 7))
        steps = np.clip(steps, low, high)
        steps[0, :2] = low, high
        x = (steps * unit).astype(dtype)
        got = expect_fresh(quantize_affine, x)
        hint = "any range, any shape, both dtypes"
        expect_close(got[1], np.float32(unit), inner=3, hint=hint)
        expect_equal(got[2], -low, hint=hint)
        expect_equal(got[0], (np.rint(steps) - low).astype(np.uint8), hint=hint)
        back = expect_fresh(dequantize_affine, *got)
        apart = bool(np.abs(back - x).max() <= 0.501 * unit)
        expect_equal(apart, True, hint="no number moves by more than half a step")
for numbers in ([5.5], [-7.25], [3.0, 3.0], [1e-3, 2e-3, 3e-3], [-3e38, 3e38], [-3e38, 1e-30]):
    x = np.array([*numbers, 0.0], np.float32)
    q, scale, zero = got = expect_unchanged(quantize_affine, x)
    back = expect_unchanged(dequantize_affine, q, scale, zero)
    hint = "one value, very large ones: half a step at most, and 0.0 comes back as 0.0"
    apart = bool((np.abs(back.astype(np.float64) - x) <= 0.501 * np.float64(scale)).all())
    expect_equal((apart, float(back[-1])), (True, 0.0), hint=hint)
for numbers in ([-101, 0.5, 154], [-126.5, 128.5], [-101, 1.5, 154], [-127.5, 127.5]):
    x = np.array(numbers)
    want = quantize_affine_spec(x)
    hint = "ties go to the even number, and x / scale is rounded before zero is added"
    expect_equal(expect_unchanged(quantize_affine, x), want, hint=hint)
x = np.array([1e-44, 0], np.float32)
got = expect_unchanged(quantize_affine, x)
hint = "very small numbers: the scale is never below TINY"
expect_equal((got[1], got[2]), (TINY, 0), hint=hint)
got = quantize_affine(np.zeros((0, 3)))
want = np.zeros((0, 3), np.uint8), np.float32(1), 0
expect_equal(got, want, hint="an empty array: scale 1, zero 0", allow_empty=True)
for name, y in layouts(quarters(3, 5)):
    q, scale, zero = quantize_affine_spec(y)
    got = expect_unchanged(quantize_affine, y)
    expect_close(got[1], scale, inner=2, hint=f"x may be {name}")
    apart = int(np.abs(got[0].astype(int) - q).max())  # a tie may go either way here
    expect_equal(apart <= 1, True, hint=f"x may be {name}")
expect_raises(ValueError, quantize_affine, np.array([1, np.nan]), hint="NaN: finite_floats")
expect_raises(TypeError, quantize_affine, [1.0], hint="lists: TypeError from the door")
expect_raises(TypeError, dequantize_affine, whole(3), 1.0, 0, hint="int8 is not uint8")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
hidden = np.maximum(np.random.default_rng(9).standard_normal(50_000), 0).astype(np.float32)
try:
    q, scale = quantize(hidden)
    symmetric = dequantize(q, scale) - hidden
    affine = dequantize_affine(*quantize_affine(hidden)) - hidden
except NotImplementedError:
    print("left out: not written yet")
else:
    print("50,000 normal numbers after a ReLU: typical error")
    for name, error in (("symmetric", symmetric), ("affine", affine)):
        print(f"  {name:10}{np.sqrt(np.mean(error**2)):.5f}")
    _, step, _ = quantize_affine(np.linspace(2, 3, 1000))
    print(f"numbers from 2 to 3: step {step:.5f}, without the way down to 0 {1 / 255:.5f}")
    print(f"{step * 255:.1f} times as coarse")

# %% [markdown]
r"""
One more bit, for nothing? Not quite. A product of two affine numbers is $(q_a - z_a)(q_b - z_b)$, and a sum of those has three terms more than a sum of $q_a q_b$. Weights are mostly symmetric for that reason; what runs through the network is often affine.

## Exercise 3: exact products of bytes

Between two products of bytes and their sum lie three traps, and none of them raises anything:

| added up in | goes wrong from | because |
|---|---|---|
| int8 | the first product on | 12 * 11 = 132 is more than 127 |
| int16 | two products on | twice -128 * -128 is 32,768 |
| float32 | 1,025 products on | above $2^{24}$ only every second whole number is a float32 |
| int32 | 131,072 products on | $131{,}072 \cdot 128^2 = 2^{31}$ |

So the sum is an int32, and an inner size above 131,071 is refused.

And yet the third row shows a way to be fast without any instruction for integers. Cut the inner dimension into pieces of 1,024: each piece, as a product of *float32* matrices, is exact, whatever the order in which its terms are added, because $1{,}024 \cdot 128^2 = 2^{24}$. A BLAS may do it. Add up the pieces in int32. (One product of *float64* matrices is exact for all k allowed here, since $2^{31}$ is far below $2^{53}$; but its registers hold half as many numbers.)

**Predict.** The floats need four times the memory, and casts on top. How many times as fast as NumPy's product of int32 is this detour?
"""


# %%
#| export
MOST_TERMS = 131_071  # 131,072 times 128 * 128 is 2^31, one more than an int32 can hold


def check_int8_matmul(a, b):
    """The sizes (m, k, n) of the product of two int8 matrices.

    raises TypeError and ValueError as check_bytes, ValueError for inner sizes that differ or are
        larger than MOST_TERMS
    """
    (m, k), (inner, n) = check_bytes("a", a, ndim=2), check_bytes("b", b, ndim=2)
    if k != inner:
        raise ValueError(f"b has {inner} rows, but a has {k} columns: {a.shape} times {b.shape}")
    if k > MOST_TERMS:
        raise ValueError(f"{k} products of -128 * -128 may be 2^31: at most {MOST_TERMS} of them")
    return m, k, n


# %%
def int8_matmul_spec(a, b):
    """The product in Python's own whole numbers, which never overflow."""
    columns = b.T.tolist()
    rows = [[sum(map(operator.mul, row, column)) for column in columns] for row in a.tolist()]
    return np.array(rows, np.int32).reshape(len(a), b.shape[1])


def int32_matmul(a, b):
    """NumPy's product of whole numbers: what the speed of yours is compared with."""
    return np.matmul(a.astype(np.int32), b.astype(np.int32))


# %% nbgrader={"grade": false, "grade_id": "int8_matmul", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def int8_matmul(a, b):
    """The exact product of two matrices of bytes.

        c[i, j] = sum over p of a[i, p] * b[p, j]

    a : (m, k) int8, any stride; not modified
    b : (k, n) int8
    returns (m, n) int32, a new array; k = 0 gives zeros
    raises TypeError and ValueError as check_int8_matmul

    >>> int8_matmul(np.array([[-128, -128]], np.int8), np.array([[-128], [-128]], np.int8))
    array([[32768]], dtype=int32)
    """
    # Hint: range(0, k, 1024), and .astype(np.float32) of a slice of a and of b. About 7 lines.
    ### BEGIN SOLUTION
    m, k, n = check_int8_matmul(a, b)
    total = np.zeros((m, n), np.int32)
    for p in range(0, k, 1024):
        part_a, part_b = a[:, p : p + 1024], b[p : p + 1024]
        part = part_a.astype(np.float32) @ part_b.astype(np.float32)
        total += part.astype(np.int32)
    return total
    ### END SOLUTION


def quantized_matmul(A, B, scale_A=1.0, scale_B=1.0):
    """The product of two float matrices by way of int8.

        q_A = round_to_int8(A, scale_A), q_B likewise
        C[i, j] = scale_A * scale_B[j] * sum over p of q_A[i, p] * q_B[p, j]

    A       : (m, k) float32 or float64; not modified
    B       : (k, n) float32 or float64
    scale_A : positive number. With 1.0 A is rounded to whole numbers and clipped at +-127
    scale_B : positive number, or one for each column of B: shape (n,)
    returns (m, n) float32, a new array
    raises TypeError and ValueError as finite_floats, check_scale and check_int8_matmul

    >>> quantized_matmul(np.array([[0.5, 200.0]]), np.array([[1.0], [0.4]]), scale_B=0.1)
    array([[50.8]], dtype=float32)
    """
    A, B = finite_floats("A", A, ndim=2), finite_floats("B", B, ndim=2)
    scale_A, scale_B = check_scale("scale_A", scale_A), check_scale("scale_B", scale_B, B.shape[1])
    # Hint: round_to_int8 twice, int8_matmul, then the scales. About 3 lines.
    ### BEGIN SOLUTION
    total = int8_matmul(round_to_int8(A, scale_A), round_to_int8(B, scale_B))
    return (total * (np.float64(scale_A) * scale_B)).astype(np.float32)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "int8_matmul-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
most = np.full((1, 1100), -128, np.int8)
most[0, 0] = 1  # so the sum of the first 1025 is 2^24 + 1: longer pieces are no float32
for a, b in (
    (np.array([[11, -9]], np.int8), np.array([[12], [8]], np.int8)),
    (np.full((2, 2), -128, np.int8), np.full((2, 2), -128, np.int8)),
    (whole(3, 7), whole(7, 5, seed=1)),
    (most, most.T.copy()),
    (whole(2, 0), whole(0, 3)),
):
    want = int8_matmul_spec(a, b)
    causes = {
        "int8 @ int8 stays int8: it wraps at 127": lambda: a @ b,
        "added up in int16: two products of -128 * -128 are 32768": lambda: (
            a.astype(np.int16) @ b.astype(np.int16)
        ),
        "one float32 product for all of k is exact only below 2^24: pieces of 1024": lambda: (
            a.astype(np.float32) @ b.astype(np.float32)
        ).astype(np.int32),
        "the piece behind the last whole 1024 is missing": lambda: int8_matmul_spec(
            a[:, : a.shape[1] // 1024 * 1024], b[: len(b) // 1024 * 1024]
        ),
        "only the last piece is there: add it": lambda: int8_matmul_spec(a[:, 1024:], b[1024:]),
    }
    got = expect_unchanged(int8_matmul, a, b)
    hint = "pieces of 1024: float32 inside, int32 for the sum of them"
    expect_equal(got, want, likely=causes, hint=hint, allow_empty=True)
expect_raises(TypeError, int8_matmul, whole(2, 2), np.ones((2, 2)), hint="check_int8_matmul")
expect_raises(ValueError, int8_matmul, whole(2, 3), whole(2, 3), hint="check_int8_matmul")
A, B = quarters(3, 4, most=200) * 0.5, quarters(4, 2, most=160, seed=2) * 0.25
for scale_A, scale_B in ((0.5, 0.25), (1.0, 1.0), (0.5, np.array([0.25, 0.5], np.float32))):
    steps = [np.rint(A / np.float32(scale_A)), np.rint(B / scale_B)]
    clipped = [np.clip(s, -127, 127).astype(np.int8) for s in steps]
    total, both = int8_matmul_spec(*clipped), np.float64(scale_A) * scale_B
    want = (total * both).astype(np.float32)
    causes = {
        "cast before it was clipped: 200 became -56": lambda: (
            int8_matmul_spec(*map(wrapped, steps)) * both
        ),
        "the whole numbers came back: times scale_A * scale_B": lambda: total,
        "scale_B is missing": lambda: total * np.float64(scale_A),
        "scale_A is missing": lambda: total * np.broadcast_to(np.float64(scale_B), 2),
        "the scales were divided by": lambda: total / both,
        "not quantized: this is the product of the floats": lambda: A.astype(float) @ B,
    }
    got = expect_unchanged(quantized_matmul, A, B, scale_A, scale_B)
    hint = "both to int8 by their scales, int8_matmul, times scale_A * scale_B"
    expect_close(got, want, inner=3, scale=np.abs(want).max(), likely=causes, hint=hint)

# %% nbgrader={"grade": true, "grade_id": "int8_matmul-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("int8_matmul-hidden")
for k in (1, 3, 1023, 1024, 1025, 2048, 2500, 131_071):
    a, b = np.full((1, k), -128, np.int8), np.full((k, 2), -128, np.int8)
    b[:, 1] = 127
    want = np.array([[16384 * k, -16256 * k]], np.int32)
    got = expect_unchanged(int8_matmul, a, b)
    expect_equal(got, want, hint="any k up to 131,071, with the largest numbers there are")
    a[0, ::1025], b[::1025, 0] = 1, 1  # pieces of 1025 have an odd sum above 2^24
    want = int8_matmul_spec(a, b)
    expect_equal(int8_matmul(a, b), want, hint="no piece may be longer than 1024")
a, b = np.full((1, 40_000), 127, np.int8), np.full((40_000, 3), 127, np.int8)
a[0, 20_001:] = -127
want = np.full((1, 3), 2 * 127**2, np.int32)
expect_equal(int8_matmul(a, b), want, hint="exact also where a small sum has large parts")
for m, k, n in ((1, 1, 1), (5, 37, 3), (2, 1030, 7), (0, 3, 2), (3, 2, 0)):
    a, b = (draw.integers(-128, 128, shape, dtype=np.int8) for shape in ((m, k), (k, n)))
    want = int8_matmul_spec(a, b)
    got = expect_fresh(int8_matmul, a, b)
    expect_equal(got, want, hint="any shape, odd sizes too", allow_empty=True)
for name, a in layouts(whole(4, 6)):
    want = int8_matmul_spec(a, a.T)
    got = expect_unchanged(int8_matmul, a, a.T)
    expect_equal(got, want, hint=f"the matrices may be {name}")
a = np.zeros((1, 131_072), np.int8)
expect_raises(ValueError, int8_matmul, a, a.T, hint="k = 131,072: its sum may be 2^31")
for dtype in (np.int16, np.uint8, np.int64, np.bool_):
    other = np.ones((2, 2), dtype)
    expect_raises(TypeError, int8_matmul, other, other, hint="anything but int8: TypeError")
for scale_A, scale_B in ((0.3, draw.uniform(0.1, 2, 3)), (2, np.float32(0.7)), (1.0, 1)):
    A = (between_ties(draw, (4, 9), most=150) * np.float32(scale_A)).astype(np.float64)
    B = (between_ties(draw, (9, 3), most=150) * scale_B).astype(np.float32)
    q_A = np.clip(np.rint(A / np.float32(scale_A)), -127, 127).astype(np.int8)
    q_B = np.clip(np.rint(B / np.float32(scale_B)), -127, 127).astype(np.int8)
    want = (int8_matmul_spec(q_A, q_B) * (np.float64(scale_A) * scale_B)).astype("f4")
    got = expect_unchanged(quantized_matmul, A=A, B=B, scale_A=scale_A, scale_B=scale_B)
    hint = "both dtypes, scales of any kind, arguments by name; the result is float32"
    expect_close(got, want, inner=4, scale=np.abs(want).max(), hint=hint)
hint = "127 * 54 - 54 * 127 is exactly 0: scale once, after the sum of whole numbers"
for q in (127, 54, 54, 127), (2, 7, 14, 1), (2, 13, 13, 2), (99, 35, 63, 55):
    A, B = np.array([[q[0], -q[2]]]) * 0.1, np.array([[q[1]], [q[3]]]) * 0.3
    got = expect_unchanged(quantized_matmul, A, B, 0.1, 0.3)
    expect_equal(got, np.zeros((1, 1), np.float32), hint=hint)
got = quantized_matmul(np.zeros((5, 0)), np.zeros((0, 4)))
expect_equal(got, np.zeros((5, 4), "f4"), hint="k = 0 gives zeros")
for wrong in (0.0, -1.0, np.nan, np.inf, np.ones(2), "1"):
    error = TypeError if isinstance(wrong, str) else ValueError
    expect_raises(error, quantized_matmul, A, B, wrong, hint="scale_A: check_scale")
expect_raises(ValueError, quantized_matmul, A, B, 1.0, np.ones(2), hint="two scales, one column")
expect_raises(ValueError, quantized_matmul, A * np.nan, B, hint="NaN: ValueError")
expect_raises(TypeError, quantized_matmul, whole(1, 2), B, hint="A is int8 already: TypeError")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "int8_matmul-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]


def byte_inputs(rng):
    return tuple(rng.integers(-128, 128, (128, 128), dtype=np.int8) for _ in range(2))


points(
    speed(
        int8_matmul,
        int32_matmul,
        byte_inputs,
        points=2,
        full=6,
        half=2,
        hint="a float32 product by @ for each piece of 1024: NumPy has no fast one for integers",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call
from tito.machine.blas import one_thread

try:
    print("                    float32 @     int8_matmul     NumPy's int32")
    with one_thread():
        for m, k, n in ((128, 128, 128), (256, 256, 256), (256, 2048, 256)):
            a, b = whole(m, k), whole(k, n, seed=1)
            row = [time_call(np.matmul, a.astype(np.float32), b.astype(np.float32)).median]
            row.append(time_call(int8_matmul, a, b).median)
            row.append(
                time_call(int32_matmul, a, b, repeats=1, warmup=0).median if k < 999 else None
            )
            times = [f"{s * 1e3:13.2f} ms" if s else f"{'-':>16}" for s in row]
            print(f"{m:4} x {k:4} x {n:3}" + "".join(times))
except NotImplementedError:
    print("left out: int8_matmul is not written yet")

# %% [markdown]
"""
Exact, and nearly as fast as the floats; still not faster. For that the bytes must stay bytes.

## Exercise 4: ReLU without leaving the grid

A symmetric grid has 0.0 at `q = 0`, so ReLU can be done on the whole numbers: `max(q, 0)`. This function takes floats, goes onto the grid, does its ReLU there, and comes back. It is what a quantized network does between two layers.

**Predict.** With scale 0.5, what becomes of 200.0, of 0.4, of -3.0?
"""


# %%
def quantized_relu_spec(x, scale):
    """One number after the other, in Python's floats."""
    y = np.zeros(x.size, np.float32)
    for i, value in enumerate(x.astype(np.float64).ravel().tolist()):
        steps = min(max(round(value / float(scale)), 0), 127)
        y[i] = steps * float(scale)
    return y.reshape(x.shape)


# %% nbgrader={"grade": false, "grade_id": "quantized_relu", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def quantized_relu(x, scale=1.0):
    """ReLU on the int8 grid of a scale.

        y = scale * max(round_to_int8(x, scale), 0)

    x     : float32 or float64, one axis or more, any stride; not modified
    scale : positive number. With 1.0 x is rounded to whole numbers and clipped at 127
    returns a new float32 array of x's shape
    raises TypeError and ValueError as finite_floats and check_scale

    >>> quantized_relu(np.array([-3.0, 0.4, 200.0]), scale=0.5)
    array([ 0. ,  0.5, 63.5], dtype=float32)
    """
    # Hint: the door, then round_to_int8, np.maximum, dequantize. About 4 lines.
    ### BEGIN SOLUTION
    x = finite_floats("x", x)
    scale = check_scale("scale", scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return q * scale
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "quantized_relu-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for shape, scale in (((9,), 1.0), ((3, 5), 0.5), ((1,), 4.0)):
    x = quarters(*shape, most=300) * np.float32(scale)
    x.flat[-1] = 0.75 * scale
    want = quantized_relu_spec(x, scale)
    steps = np.rint(x / scale)
    causes = {
        "cast before it was clipped: 200 * scale came back as 0, it had wrapped to -56": lambda: (
            np.maximum(wrapped(steps), 0) * scale
        ),
        "steps, not units: times the scale on the way back": lambda: want / scale,
        "astype without rint truncates: 0.75 * scale is one step": lambda: (
            np.trunc(np.clip(x / scale, 0, 127)) * scale
        ),
        "ReLU of the floats: y has only the values of the grid": lambda: np.maximum(x, 0),
        "the negative ones are still there": lambda: np.clip(steps, -127, 127) * scale,
        "clipped at 127: scale * 127 is the largest": lambda: np.minimum(
            np.maximum(steps, 0) * scale, 127
        ),
    }
    got = expect_unchanged(quantized_relu, x, scale)
    hint = "to int8, maximum with 0, times scale; the result is float32"
    expect_close(got, want, inner=2, scale=127 * scale, likely=causes, hint=hint)
expect_raises(ValueError, quantized_relu, np.array([np.inf]), hint="finite_floats comes first")
expect_raises(ValueError, quantized_relu, x, 0.0, hint="check_scale comes before any work")

# %% nbgrader={"grade": true, "grade_id": "quantized_relu-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("quantized_relu-hidden")
for shape, scale in (((3, 4, 5), 0.01), ((61,), 3), ((2, 2), np.float32(0.37))):
    for dtype in (np.float32, np.float64):
        x = (between_ties(draw, shape, most=400) * scale).astype(dtype)
        want = quantized_relu_spec(x, scale)
        got = expect_fresh(quantized_relu, x, scale=scale)
        hint = "any shape, both dtypes, values beyond 127 * scale"
        expect_close(got, want, inner=3, scale=127 * float(scale), hint=hint)
for name, x in layouts(quarters(4, 5, most=200)):
    want = quantized_relu_spec(x, 1.0)
    expect_close(expect_unchanged(quantized_relu, x), want, inner=2, hint=f"x may be {name}")
x = np.array([-0.0, -1e-30, 3e38, -3e38, 0.5, 1.5], np.float32)
got = expect_unchanged(quantized_relu, x)
want = np.array([0, 0, 127, 0, 0, 2], np.float32)
expect_equal(got, want, hint="scale 1.0: rounded to the even one from the middle, clipped at 127")
got = quantized_relu(np.zeros((0, 2)))
expect_equal(got, np.zeros((0, 2), np.float32), hint="empty", allow_empty=True)
for wrong in (0.0, -1.0, np.inf, np.ones(2)):
    expect_raises(ValueError, quantized_relu, x, wrong, hint="check_scale")
expect_raises(ValueError, quantized_relu, x * np.float32(np.nan), hint="finite_floats: NaN")
expect_raises(TypeError, quantized_relu, whole(3), hint="finite_floats: int8 is no float")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
if plots := new_plots("quantized_relu with scale 0.5, and with 8", ("x", "y"), ("x", "y")):
    x = np.linspace(-40, 100, 500, dtype=np.float32)
    for axes, scale in zip(plots, (0.5, 8)):
        axes.plot(x, np.maximum(x, 0), color=ORANGE, lw=1, label="ReLU")
        try:
            axes.plot(x, quantized_relu(x, scale), color=BLUE, label=f"scale {scale}")
        except NotImplementedError:
            print("left out: quantized_relu is not written yet")
        axes.legend()
    show_plots(plots, "ReLU and its quantized form: clipped early, or in coarse steps")

# %% [markdown]
"""
*Figure: the quantized ReLU beside the exact one. With scale 0.5 it follows closely and stays at 63.5 from there on; with scale 8 it reaches all of the range in coarse steps.*

Both are wrong, each in its own way: a small step clips, a large one rounds. Choosing the scale is choosing between the two.
"""

# %% [markdown]
r"""
## Exercise 5: sixty-four products in one instruction

CPUs since about 2019 have an instruction made for this: `vpdpbusd`. It takes two registers of bytes and one of int32. Four bytes of the one meet four bytes of the other, and the four products are added to one int32 lane. With 16 lanes that is 64 products; `vfma` does 16.
"""

# %% jupyter={"source_hidden": true} tags=["raises-exception"]
#| measure
if plots := new_plots("Two lanes of vpdpbusd: acc + four products in each", ("", ""), height=2.9, width=8):
    from matplotlib.patches import Rectangle

    lane = plots[0]
    for row, (name, colour) in enumerate((("a, 0 to 255", ORANGE), ("b, -128 to 127", BLUE))):
        lane.text(-0.3, 3.4 - row, name, ha="right", va="center", color="0.5")
        for i in range(8):
            lane.add_patch(
                Rectangle((i + (i > 3) * 0.4, 3 - row), 1, 0.8, fc=colour, ec="0.5", alpha=0.7)
            )
            word = f"{'ab'[row]}{i}"
            lane.text(i + 0.5 + (i > 3) * 0.4, 3.4 - row, word, ha="center", va="center")
    for left, name, first in ((0, "lane 0", 0), (4.4, "lane 1", 4)):
        for i in range(4):
            lane.plot([left + i + 0.5, left + 2], [1.95, 1.35], color="0.5", lw=1)
        lane.add_patch(Rectangle((left, 0.5), 4, 0.8, fc=GREEN, ec="0.5", alpha=0.7))
        words = "acc + " + " + ".join(f"a{i} b{i}" for i in range(first, first + 4))
        lane.text(left + 2, 0.9, words, ha="center", va="center", fontsize=8)
        lane.text(left + 2, 0.2, name, ha="center", va="center", color="0.5")
    lane.text(-0.3, 0.9, "int32", ha="right", va="center", color="0.5")
    lane.set(xlim=(-2.4, 8.6), ylim=(0, 4))
    lane.axis("off")
    show_plots(plots, "Four bytes of a times four of b, added to one int32; twice, for two lanes")

# %% [markdown]
r"""
*Figure: two lanes. In each, four orange bytes of a stand over four blue bytes of b; lines lead from the four products to a green int32: acc + a0 b0 + a1 b1 + a2 b2 + a3 b3 in lane 0, the same with 4 to 7 in lane 1.*

Three things follow from it.

**Four neighbours in k.** The four bytes of a lane are four steps of the inner sum. So B is packed: rows `4p` to `4p + 3` of a column become one int32, the first of them in the lowest byte. As bytes of one int32 they must not disturb each other: a negative byte that is widened has ones in all the bits above it, so cut it off with `& 255` before it is shifted. Then the panels of module 08 do for whole numbers too, with lanes in place of floats.

**One side without a sign.** The instruction reads A's bytes as 0 to 255. Ours are -128 to 127: so add 128 to all of A, and take off afterwards what that brought:

$$\sum_p a_p b_p = \sum_p (a_p + 128)\, b_p - 128 \sum_p b_p$$

For a byte, adding 128 is turning over its highest bit: `a.view(np.uint8) ^ 128`. And the last term depends on B alone, on the sums of its columns. They are packed with it.

**Any k.** If k is no multiple of 4, the last lane is filled up with zeros in B. What A has there is multiplied by 0.

The next two cells hold what you know from 08: lanes as a type for Numba, and a microkernel, written by a program, inside the loops over all tiles. `multiply_bytes` calls it; its `start` is a row of int32 that every row of the result begins with. Where your CPU has no `vpdpbusd`, that instruction would end Python without a word, so the cells ask first, and have two other forms, exact too. The product of floats from 08 is not allowed here: it would be exact as well, in pieces of k, and half as fast.

**Predict.** 64 products against 16 in an instruction, but A and B must be packed first. How many times as fast as float32 is a product of 512 x 512? And with B packed beforehand?
"""

# %% jupyter={"source_hidden": true}
#| export simd.ints
"""Whole numbers in vector registers: lanes of 32 bits, and four products of bytes added to each.

As in simd.vec each function is an "intrinsic" that writes LLVM instructions into the kernel that
calls it. The CPU's instruction for bytes is used where the CPU says that it has it: on another one
it would end Python at once.
"""

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from tinykernels.simd.vec import VL, Vec, cpu_features

_LANE = ir.IntType(32)
_INTS = ir.VectorType(_LANE, VL)
_FLOATS = ir.VectorType(ir.FloatType(), VL)
_SHORTS = ir.VectorType(ir.IntType(16), 2 * VL)
_BYTES = ir.VectorType(ir.IntType(8), 4 * VL)


class IntVec(types.Type):
    """The Numba type of a vector register that holds VL int32."""

    def __init__(self):
        super().__init__(name=f"IntVec({VL})")


_ivec = IntVec()


@register_model(IntVec)
class _IntVecModel(models.PrimitiveModel):
    """Kept as LLVM's own vector, so that it lives in a register."""

    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _INTS)


def dot_form(features, vl=VL):
    """How four products of bytes are added to a lane on a CPU with these features.

    returns "vnni", one instruction; "pairs", two products of 16 bits at a time; or "plain"

    >>> dot_form({"avx2", "fma"}, 8)
    'pairs'
    """
    needs = {16: {"avx512f", "avx512vnni"}, 8: {"avx2", "avxvnni"}}
    if vl in needs and needs[vl] <= features:
        return "vnni"
    pairs = {16: {"avx512f", "avx512bw"}, 8: {"avx2"}}
    return "pairs" if vl in pairs and pairs[vl] <= features else "plain"


DOT = dot_form(cpu_features())


def _check_ints(x):
    if not (isinstance(x, types.Array) and x.dtype == types.int32 and x.layout == "C"):
        raise TypingError(f"lanes are loaded from contiguous int32 arrays, not from {x}")


def _place(context, builder, array_type, x, i):
    return builder.gep(context.make_array(array_type)(context, builder, x).data, [i])


def _in_all_lanes(builder, number):
    anything = ir.Constant(_INTS, ir.Undefined)
    first = builder.insert_element(anything, number, ir.Constant(_LANE, 0))
    return builder.shuffle_vector(first, anything, ir.Constant(_INTS, None))


@intrinsic
def izero(typing):
    """VL zeros."""

    def emit(context, builder, signature, args):
        return ir.Constant(_INTS, None)

    return _ivec(), emit


@intrinsic
def iload(typing, x, i):
    """The VL int32 of x from its i-th on."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args)
        return builder.load(builder.bitcast(place, _INTS.as_pointer()), align=4)

    return _ivec(x, types.intp), emit


@intrinsic
def istore(typing, x, i, v):
    """Write v over the VL int32 of x from its i-th on."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        x, i, v = args
        place = _place(context, builder, signature.args[0], x, i)
        builder.store(v, builder.bitcast(place, _INTS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(x, types.intp, _ivec), emit


@intrinsic
def ibcast(typing, x, i):
    """The i-th int32 of x in all VL lanes."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        number = builder.load(_place(context, builder, signature.args[0], *args))
        return _in_all_lanes(builder, number)

    return _ivec(x, types.intp), emit


@intrinsic
def fetch(typing, x, i):
    """Ask for the cache line of the i-th int32 of x, soon to be written; i may lie beyond."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(_place(context, builder, signature.args[0], *args), byte)
        shape = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        builder.call(function, [place, flag(1), flag(3), flag(1)])  # to write, to keep, of data
        return context.get_dummy_value()

    return types.void(x, types.intp), emit


def _constant(shape, number):
    return ir.Constant(shape, [number] * shape.count)


def _call(builder, name, result, *args):
    shape = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, shape, name), args)


def _vnni(builder, acc, a, b):
    name = f"llvm.x86.avx512.vpdpbusd.{32 * VL}"
    if llvm.llvm_version_info >= (22,):  # before, its operands were lanes, not bytes
        a, b = builder.bitcast(a, _BYTES), builder.bitcast(b, _BYTES)
    return _call(builder, name, _INTS, acc, a, b)


def _pairs(builder, acc, a, b):
    """Bytes 0 and 2 of each lane, then 1 and 3, as numbers of 16 bits, which CPUs multiply."""
    name = {16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd"}[VL]
    a, b = builder.bitcast(a, _SHORTS), builder.bitcast(b, _SHORTS)
    eight = _constant(_SHORTS, 8)
    even = builder.and_(a, _constant(_SHORTS, 255)), builder.ashr(builder.shl(b, eight), eight)
    odd = builder.lshr(a, eight), builder.ashr(b, eight)
    for u, v in (even, odd):
        acc = builder.add(acc, _call(builder, name, _INTS, u, v))
    return acc


def _plain(builder, acc, a, b):
    for q in range(4):
        low, up = _constant(_INTS, 8 * q), _constant(_INTS, 8 * (3 - q))
        left = builder.and_(builder.lshr(a, low), _constant(_INTS, 255))
        right = builder.ashr(builder.shl(b, up), _constant(_INTS, 24))
        acc = builder.add(acc, builder.mul(left, right))
    return acc


_EMIT = {"vnni": _vnni, "pairs": _pairs, "plain": _plain}


@intrinsic
def vdp4(typing, a, b, acc):
    """acc + the four products of bytes of a (0 to 255) and b (-128 to 127), in each lane."""

    def emit(context, builder, signature, args):
        a, b, acc = args
        return _EMIT[DOT](builder, acc, a, b)

    return _ivec(_ivec, _ivec, _ivec), emit


@intrinsic
def iadd(typing, u, v):
    """u + v, lane by lane; sums wrap around at 2**31."""

    def emit(context, builder, signature, args):
        return builder.add(*args)

    return _ivec(_ivec, _ivec), emit


@intrinsic
def ifloat(typing, v):
    """Each lane as a float."""

    def emit(context, builder, signature, args):
        return builder.sitofp(args[0], _FLOATS)

    return Vec()(_ivec), emit


@intrinsic
def half_bytes(typing, v, shift):
    """The low four bits of each byte (shift 0) or the high ones (shift 4), as a byte."""
    if not isinstance(shift, types.IntegerLiteral):
        raise TypingError("shift is written as a number, 0 or 4")
    number = shift.literal_value

    def emit(context, builder, signature, args):
        moved = builder.lshr(args[0], _constant(_INTS, number))
        return builder.and_(moved, _constant(_INTS, 0x0F0F0F0F))

    return _ivec(_ivec, shift), emit


@intrinsic
def ihalf(typing, v, shift):
    """The float16 in the low half of each lane (shift 0), or in the high one (16), as a float.

    Its exponent counts from -15 and that of a float from -127: the product with 2**112 sets that
    right, also for the smallest numbers. Infinity and NaN are none of our scales.
    """
    if not isinstance(shift, types.IntegerLiteral):
        raise TypingError("shift is written as a number, 0 or 16")
    number = shift.literal_value

    def emit(context, builder, signature, args):
        top = builder.shl(args[0], _constant(_INTS, 16 - number))
        sign = builder.and_(top, _constant(_INTS, 0x80000000))
        bits = builder.and_(builder.lshr(top, _constant(_INTS, 3)), _constant(_INTS, 0x0FFFE000))
        size = builder.fmul(builder.bitcast(bits, _FLOATS), _constant(_FLOATS, 2.0**112))
        signed = builder.or_(builder.bitcast(size, _INTS), sign)
        return builder.bitcast(signed, _FLOATS)

    return Vec()(_ivec, shift), emit


# %% jupyter={"source_hidden": true}
#| export
import functools
import linecache

from tinykernels.jit import kernel
from tinykernels.simd.packing import aligned_empty
from tinykernels.simd.vec import REGISTERS, VL

# Rows of a tile, and registers that a row of it takes; the lower one for few rows.
TILE_INT8, LOW_TILE_INT8 = ((8, 2), (4, 2)) if REGISTERS == 32 else ((6, 2), (4, 2))
PANEL_INT8 = TILE_INT8[1] * VL  # columns of B side by side
BLOCK_BYTES = 2**18  # of A, multiplied at a time: they stay in the second cache
LARGE_RESULT = 2**16  # numbers


# %% jupyter={"source_hidden": true}
#| export


def ukernel_int8_source(mr, nv, name="ukernel"):
    """The text of a microkernel name(pa, pb, kc, start, c, ic, ldc), as in 08 but of integers.

        c[ic + r * ldc + s] = start[s] + sum over p < kc, q < 4 of
                              byte q of pa[mr * p + r] times byte q of pb[nv * VL * p + s]
        for r < mr and s < nv * VL

    C is written and never read: no other call adds to it, because the inner size is not cut into
    blocks. Its cache lines are asked for before the sums begin, so they are there at the end.
    """
    places = {(r, v): f"ic + ldc * {r} + {v * VL}" for r, v in np.ndindex(mr, nv)}
    head = f"def {name}(pa, pb, kc, start, c, ic, ldc):"
    lines = [head]
    lines += [f"    fetch(c, {place})" for place in places.values()]
    lines += [f"    s{r}_{v} = iload(start, {v * VL})" for r, v in places]
    lines.append("    for p in range(kc):")
    for v in range(nv):
        lines.append(f"        b{v} = iload(pb, {v * VL} + {nv * VL} * p)")
    for r, v in places:
        if v == 0:
            lines.append(f"        a = ibcast(pa, {r} + {mr} * p)")
        lines.append(f"        s{r}_{v} = vdp4(a, b{v}, s{r}_{v})")
    lines += [f"    istore(c, {place}, s{r}_{v})" for (r, v), place in places.items()]
    return "\n".join(lines)


@functools.cache
def ukernel_int8(mr, nv):
    """The compiled microkernel for a tile of mr rows and nv registers."""
    text, file = ukernel_int8_source(mr, nv), f"<ukernel_int8 {mr} x {nv}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"iload": iload, "ibcast": ibcast, "vdp4": vdp4, "istore": istore, "fetch": fetch}
    exec(compile(text, file, "exec"), space)
    return kernel(space["ukernel"])


@kernel
def stack_rows(lanes, panels):
    """The rows of a matrix in panels: panels[q, p, r] = lanes[height * q + r, p].

    lanes  : (m, k) contiguous int32
    panels : (ceil(m / height), k, height) contiguous int32; changed, but not where no row is
    """
    height = panels.shape[2]
    for i in range(len(lanes)):
        row, panel, r = lanes[i], panels[i // height], i % height
        for p in range(len(row)):
            panel[p, r] = row[p]


@functools.cache
def macro_kernel_int8(mr, nv):
    """The compiled loops over all tiles of C.

    returns tiles(lanes, panels, start, c, rows), which writes start + product to c:

        lanes  : (m, k) contiguous int32, four bytes in each
        panels : (ceil(n / nr), k, nr) int32, columns side by side, nr = nv * VL
        start  : (n,) int32
        c      : (m, n) contiguous int32
        rows   : how many of A are stacked at a time, a multiple of mr
    """
    tile, nr = ukernel_int8(mr, nv), nv * VL

    @kernel
    def tiles(lanes, panels, start, c, rows):
        m, n = c.shape
        k, flat, columns = lanes.shape[1], c.reshape(-1), panels.reshape(-1)
        stacks = np.empty((rows // mr, k, mr), np.int32)
        stacked = stacks.reshape(-1)
        edge, first = np.empty(mr * nr, np.int32), np.empty(nr, np.int32)
        for top in range(0, m, rows):
            stack_rows(lanes[top : top + rows], stacks)
            for t in range(len(panels)):
                j = nr * t
                panel, wide = columns[j * k :], min(nr, n - j)
                for s in range(wide):  # an assignment of slices takes seconds to compile
                    first[s] = start[j + s]
                for i in range(top, min(m, top + rows), mr):
                    whole = i + mr <= m and wide == nr
                    if whole:
                        target, at, ldc = flat, i * n + j, n
                    else:
                        target, at, ldc = edge, 0, nr
                    tile(stacked[(i - top) * k :], panel, k, first, target, at, ldc)
                    if not whole:
                        high = min(mr, m - i)
                        for q in range(high * wide):
                            r, s = divmod(q, wide)
                            flat[(i + r) * n + j + s] = edge[r * nr + s]

    return tiles


def check_lanes(lanes, packed, start):
    """(lanes, start) as contiguous int32; compiled code would read beyond what does not fit.

    raises TypeError and ValueError for another dtype or shape than multiply_bytes asks for
    """
    k4, n = packed.panels.shape[1], packed.shape[1]
    _, found = check_bytes("lanes", lanes, ndim=2, dtype=np.int32)
    if found != k4 or np.shape(start) != (n,):
        raise ValueError(
            f"lanes {lanes.shape} and start {np.shape(start)}: (m, {k4}) and ({n},) are needed"
        )
    return np.ascontiguousarray(lanes), np.ascontiguousarray(start, np.int32)


def multiply_bytes(lanes, packed, start):
    """start plus the product of the rows in `lanes` with a packed matrix.

    lanes : (m, ceil(k / 4)) int32, each four bytes of 0 to 255
    start : (n,) int32, added to each row
    returns (m, n) int32
    """
    lanes, start = check_lanes(lanes, packed, start)
    m, k4 = lanes.shape
    mr, nv = TILE_INT8 if m > LOW_TILE_INT8[0] else LOW_TILE_INT8
    most = max(1, BLOCK_BYTES // max(1, 4 * k4 * mr))
    rows = max(1, min(most, -(-m // mr))) * mr
    # A large result begins at a cache line, so that no vector lies across two.
    shape = m, packed.shape[1]
    large = m * packed.shape[1] > LARGE_RESULT
    c = aligned_empty(shape).view(np.int32) if large else np.empty(shape, np.int32)
    macro_kernel_int8(mr, nv)(lanes, packed.panels, start, c, rows)
    return c


def multiply_plain(lanes, packed, start):
    """What multiply_bytes gives, by NumPy: slow, and nothing is compiled. For tests."""
    lanes, start = check_lanes(lanes, packed, start)
    total = np.empty((len(lanes), packed.shape[1]), np.int32)
    total[:] = start
    columns = np.concatenate([*packed.panels, lanes[:0].T], axis=1)[:, : packed.shape[1]]
    for q in range(4):
        left = lanes >> 8 * q & 255
        right = (columns << 24 - 8 * q) >> 24
        for p in range(len(columns)):
            total += left[:, p, None] * right[p]
    return total


def side_by_side(lanes, width):
    """The columns of a matrix in panels of so many: (k, n) int32 -> (ceil(n / width), k, width).

    Columns that do not exist are zeros.
    """
    k, n = lanes.shape
    panels = aligned_empty((-(-n // width), k, width)).view(np.int32)
    panels[-1:] = 0
    full = n - n % width
    panels[: n // width] = lanes[:, :full].reshape(k, n // width, width).swapaxes(0, 1)
    panels[n // width :, :, : n % width] = lanes[:, full:]
    return panels


class PackedK4:
    """An int8 matrix of shape (k, n), packed for gemm_int8.

    panels : (ceil(n / PANEL_INT8), ceil(k / 4), PANEL_INT8) int32, columns side by side
    sums   : (n,) int32, the sum of each column
    """

    ndim, dtype = 2, np.dtype(np.int8)

    def __init__(self, lanes, b):
        """lanes : (ceil(k / 4), n) int32, in each number the bytes of four k, the first lowest."""
        self.shape = b.shape
        self.panels = side_by_side(lanes, PANEL_INT8)
        self.sums = b.sum(axis=0, dtype=np.int32)


# %% jupyter={"source_hidden": true}
@kernel
def int8_loops(a, b, c):
    """Add the product of bytes to an int32 c, by plain loops that run along the rows."""
    for i in range(len(a)):
        left, total = a[i], c[i]
        for p in range(len(b)):
            line, factor = b[p], np.int32(left[p])
            for j in range(len(total)):
                total[j] += factor * np.int32(line[j])


def int8_by_rows(a, b):
    """A new product of bytes by rows: what the speed of yours is compared with."""
    c = np.zeros((len(a), b.shape[1]), np.int32)
    int8_loops(a, b, c)
    return c


def lanes_spec(b):
    """The lanes of B, byte by byte: row p holds rows 4 p to 4 p + 3 of B."""
    k, n = b.shape
    lanes = np.zeros((-(-k // 4), n), np.int64)
    for p, j in np.ndindex(k, n):
        lanes[p // 4, j] += (int(b[p, j]) % 256) << (8 * (p % 4))
    return lanes.astype(np.uint32).view(np.int32)


def panels_spec(lanes):
    """The same as columns side by side."""
    k, n = lanes.shape
    panels = np.zeros((-(-n // PANEL_INT8), k, PANEL_INT8), np.int32)
    for j in range(n):
        panels[j // PANEL_INT8, :, j % PANEL_INT8] = lanes[:, j]
    return panels


# %% nbgrader={"grade": false, "grade_id": "gemm_int8", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, gemm, spec
def pack_k4(b):
    """A matrix of bytes packed once, for any number of products: gemm_int8(a, pack_k4(b)).

        lanes[p, j] = the bytes of b[4 p, j], b[4 p + 1, j], b[4 p + 2, j], b[4 p + 3, j]
                      as one int32, the first of them lowest; zeros where b has no more rows

    b : (k, n) int8, any stride; copied
    returns a PackedK4
    raises TypeError and ValueError as check_bytes

    >>> pack_k4(np.array([[1], [2], [-1]], np.int8)).panels[0, 0, 0]
    np.int32(16712193)
    """
    k, n = check_bytes("b", b, ndim=2)
    # Hint: rows of int32 zeros for a multiple of 4, b in the first k of them, & 255; then
    #       rows[0::4] is the first of each four, and so on: lanes; PackedK4(lanes, b). About 5 lines.
    ### BEGIN SOLUTION
    rows = np.zeros((-(-k // 4) * 4, n), np.int32)
    rows[:k] = b
    rows &= 255
    lanes = rows[0::4] | rows[1::4] << 8 | rows[2::4] << 16 | rows[3::4] << 24
    return PackedK4(lanes, b)
    ### END SOLUTION


def gemm_int8(a, b, plain=False):
    """The exact product of two matrices of bytes, four of them in a lane.

        c[i, j] = sum over p of a[i, p] * b[p, j]

    a     : (m, k) int8, any stride; not modified
    b     : (k, n) int8, any stride, or pack_k4 of it; not modified
    plain : True for multiply_plain in place of multiply_bytes: the same, with nothing compiled
    returns (m, n) int32, a new array; k = 0 gives zeros
    raises TypeError and ValueError as check_int8_matmul

    >>> gemm_int8(np.array([[-128, -128]], np.int8), np.array([[-128], [-128]], np.int8))
    array([[32768]], dtype=int32)
    """
    m, k, _ = check_int8_matmul(a, b)
    packed = b if isinstance(b, PackedK4) else pack_k4(b)
    multiply = multiply_plain if plain else multiply_bytes
    # Hint: lanes, an empty int32 array (m, ceil(k / 4)); its view as uint8 has four times the
    #       columns, and the first k of them take a.view(np.uint8) ^ 128. Then
    #       multiply(lanes, packed, start). About 4 lines.
    ### BEGIN SOLUTION
    lanes = np.empty((m, -(-k // 4)), np.int32)
    np.bitwise_xor(a.view(np.uint8), 128, out=lanes.view(np.uint8)[:, :k])
    return multiply(lanes, packed, -128 * packed.sums)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "gemm_int8-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for k, n in ((4, 3), (8, 2), (5, PANEL_INT8 + 1), (1, 1)):
    b = whole(k, n)
    lanes = lanes_spec(b)
    filled = np.zeros((-(-k // 4) * 4, n), np.int64)
    filled[:k] = b
    signed = filled[0::4] + 0
    for q in (1, 2, 3):
        signed |= filled[q::4] << 8 * q
    causes = {
        "bytes were shifted with their sign: & 255 before the shift": lambda: panels_spec(
            signed.astype(np.int32)
        ),
        "the first byte belongs lowest": lambda: panels_spec(lanes.byteswap()),
        "the rows behind the last whole 4 are missing": lambda: np.where(
            np.arange(len(lanes))[:, None] < k // 4, panels_spec(lanes), 0
        ),
    }
    got = expect_unchanged(pack_k4, b)
    hint = "rows 4 p to 4 p + 3 in one int32, the first in the lowest byte; fill up with zeros"
    expect_equal(got.panels, panels_spec(lanes), likely=causes, hint=hint)
shapes = (2, 4, 3), (3, 8, PANEL_INT8 + 2), (1, 5, 2), (4, 3, PANEL_INT8), (2, 0, 3)
for m, k, n in shapes:
    a, b = whole(m, k), whole(k, n, seed=1)
    want = int8_matmul_spec(a, b)
    more = 128 * b.sum(0, dtype=np.int32)
    causes = {
        "you added 128 to A, so subtract 128 * the column sums of B": lambda: want + more,
        "128 * the column sums of B were added, not subtracted": lambda: want + 2 * more,
        "the row sums of A: it is the column sums of B that are subtracted": lambda: (
            want + more - 128 * a.sum(1, dtype=np.int32)[:, None]
        ),
        "A's bytes were taken as they are: add 128 to each": lambda: (
            int8_matmul_spec(a.view(np.uint8).astype(np.int16), b) - more
        ),
        "the last k % 4 steps are missing": lambda: int8_matmul_spec(
            a[:, : k - k % 4], b[: k - k % 4]
        ),
    }
    got = expect_unchanged(gemm_int8, a, b, plain=True)
    hint = "lanes of a + 128; multiply begins each row at start, here -128 * packed.sums"
    expect_equal(got, want, likely=causes, hint=hint)
hint = "check_int8_matmul"
expect_raises(TypeError, gemm_int8, np.ones((2, 2)), whole(2, 2), plain=True, hint=hint)
expect_raises(ValueError, gemm_int8, whole(2, 3), whole(2, 3), plain=True, hint=hint)
a, b = whole(9, 9), whole(9, PANEL_INT8 + 3, seed=2)
want = int8_matmul_spec(a, b)
expect_equal(gemm_int8(a, pack_k4(b), plain=True), want, hint="b may be packed already")
got = expect_unchanged(gemm_int8, a, b)
expect_equal(got, want, hint="with plain=False it is multiply_bytes that multiplies")

# %% nbgrader={"grade": true, "grade_id": "gemm_int8-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("gemm_int8-hidden")
for k in (1, 2, 3, 5, 6, 7, 64, 1027):
    b = draw.integers(-128, 128, (k, 2 * PANEL_INT8 + 5), dtype=np.int8)
    hint, want = "any k, any number of columns", panels_spec(lanes_spec(b))
    expect_equal(pack_k4(b).panels, want, hint=hint)
    a = draw.integers(-128, 128, (4, k), dtype=np.int8)
    want = (a.astype(np.int64)[:, :, None] * b).sum(1).astype(np.int32)
    got = expect_fresh(gemm_int8, a, b, plain=True)
    expect_equal(got, want, hint=hint)
    a, b = np.full((2, k), -128, np.int8), np.full((k, 3), -128, np.int8)
    b[:, 1] = 127
    want = np.array([[16384 * k, -16256 * k, 16384 * k]] * 2, np.int32)
    hint = "the largest bytes there are: nothing between may be narrower than 32 bits"
    expect_equal(expect_unchanged(gemm_int8, a, b, plain=True), want, hint=hint)
for name, a in layouts(whole(4, 6)):
    want = int8_matmul_spec(a, a.T)
    hint = f"the matrices may be {name}"
    expect_equal(expect_unchanged(gemm_int8, a, a.T, plain=True), want, hint=hint)
    packed = pack_k4(a.T)
    expect_equal(expect_unchanged(gemm_int8, a=a, b=packed, plain=True), want, hint=hint)
b = whole(6, 4)
packed, want = pack_k4(b), int8_matmul_spec(a, b)
b[...] = 1
hint = "a packed matrix is a copy"
expect_equal(expect_unchanged(gemm_int8, a, packed, plain=True), want, hint=hint)
for m, k, n in ((0, 3, 2), (3, 2, 0)):
    got = gemm_int8(whole(m, k), whole(k, n), plain=True)
    expect_equal(got, np.zeros((m, n), np.int32), hint="no row, no column", allow_empty=True)
hint = "the sizes of a packed matrix count too; uint8 is not int8: check_int8_matmul"
expect_raises(ValueError, gemm_int8, whole(2, 3), packed, plain=True, hint=hint)
unsigned = whole(2, 6).view(np.uint8)
expect_raises(TypeError, gemm_int8, unsigned, packed, plain=True, hint=hint)
expect_raises(TypeError, pack_k4, np.ones((2, 2), np.int16), hint="int16: TypeError")
expect_raises(ValueError, pack_k4, whole(4), hint="one axis: ValueError")
for m, k, n in ((8, 70, 2 * PANEL_INT8 + 1), (11, 5, 3)):
    a, b = (draw.integers(-128, 128, shape, dtype=np.int8) for shape in ((m, k), (k, n)))
    want, hint = int8_matmul_spec(a, b), "compiled it must give the same: multiply, not a loop"
    expect_equal(expect_fresh(gemm_int8, a, b), want, hint=hint)
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "gemm_int8-speed", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]


def square_bytes(rng):
    return tuple(rng.integers(-128, 128, (256, 256), dtype=np.int8) for _ in range(2))


points(
    speed(
        gemm_int8,
        int8_by_rows,
        square_bytes,
        points=3,
        full={"avx512": 1.9, "avx2": 1.4},
        half={"avx512": 1.2, "avx2": 1.1},
        hint="pack with a few NumPy calls on whole arrays, and one call of multiply_bytes",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call
from tito.machine.blas import one_thread

print(f"four products of bytes: {DOT}, {VL} lanes")
try:
    print(
        "                       float32 @    int8_matmul   int8 by rows      gemm_int8   B packed"
    )
    with one_thread():
        for m, k, n in ((256, 256, 256), (512, 512, 512), (4, 576, 1536)):
            a, b = whole(m, k), whole(k, n, seed=1)
            packed, work = pack_k4(b), 2 * m * k * n
            calls = [(np.matmul, a.astype(np.float32), b.astype(np.float32))]
            calls += [(f, a, b) for f in (int8_matmul, int8_by_rows, gemm_int8)]
            calls += [(gemm_int8, a, packed)]
            rates = [work / time_call(*call).median / 1e9 for call in calls]
            print(
                f"{m:4} x {k:3} x {n:4}" + "".join(f"{rate:15.0f}" for rate in rates) + "   Gop/s"
            )
            print(f"{'':17}" + "".join(f"{rate / rates[0]:15.2f}" for rate in rates) + "   times @")
except NotImplementedError:
    print("left out: an exercise is not written yet")

# %% [markdown]
"""
For the square matrices the plain loops on bytes, compiled as well as 07 could, stay below the floats: without the right instruction a byte is widened before it is multiplied, and that costs more than the bytes save. With it, and with B packed, the sentence of the gap comes true. Where the CPU lacks it (the table names the form that was used), pairs of 16 bits stand in for it, and bytes and floats take about the same time.
"""

# %% [markdown]
r"""
## Exercise 6: four bits a weight

Four bits have 16 values, too few for a whole matrix, or for a row of it. So each *block* of 32 weights that follow each other in a row gets a grid of its own, from its smallest number to its largest: a step `d` and a minimum `m`, both float16.

$$w \approx d\,q + m, \qquad q \in 0 \dots 15$$

32 weights of 4 bits are 16 bytes; with `d` and `m` it is 20, five bits a weight. This is the format `Q4_1` of llama.cpp and its files, down to the order of the half bytes: byte `i` holds weight `i` in its *low* four bits and weight `16 + i` in its high ones.
"""

# %% jupyter={"source_hidden": true} tags=["raises-exception"]
#| measure
if plots := new_plots("A block of 32 weights, 20 bytes", ("", ""), height=2.6, width=9):
    from matplotlib.patches import Rectangle

    block = plots[0]
    for i in range(20):
        colour = GREEN if i < 2 else RED if i < 4 else "none"
        block.add_patch(Rectangle((i, 2), 1, 0.9, fc=colour, ec="0.5", alpha=0.8))
        if i >= 4:
            block.add_patch(Rectangle((i, 2), 0.5, 0.9, fc=ORANGE, ec="none", alpha=0.7))
            block.add_patch(Rectangle((i + 0.5, 2), 0.5, 0.9, fc=BLUE, ec="none", alpha=0.7))
            block.text(i + 0.5, 3.0, str(i - 4), ha="center", color="0.5", fontsize=8)
    block.text(1, 3.0, "d", ha="center", color="0.5")
    block.text(3, 3.0, "m", ha="center", color="0.5")
    for bit in range(8):
        colour = ORANGE if bit < 4 else BLUE
        block.add_patch(Rectangle((5 + bit, 0.2), 1, 0.7, fc=colour, ec="0.5", alpha=0.7))
        block.text(5.5 + bit, 0.45, f"bit {7 - bit}", ha="center", va="center", fontsize=7)
    block.text(4.8, 0.5, "byte 0:  weight 16, high", ha="right", va="center", color="0.5")
    block.text(13.2, 0.5, "weight 0, low", ha="left", va="center", color="0.5")
    block.plot([4, 5], [1.95, 0.95], [5, 13], [1.95, 0.95], color="0.5", lw=0.8)
    block.set(xlim=(-0.2, 20.2), ylim=(0, 3.5))
    block.axis("off")
    show_plots(plots, "Twenty bytes, four for d and m, and sixteen with two weights in each")

# %% [markdown]
"""
*Figure: a block as 20 boxes: two bytes of d, two of m, sixteen of weights, each half orange and half blue. Below, byte 0 in its eight bits: the four high ones hold weight 16, the four low ones weight 0.*

Mind the order of things. `d` and `m` are *rounded* to float16 before they are stored, so `q` must be worked out from the rounded ones, which are what will be read back. Where the block is constant, or so nearly that `d` is 0 as a float16, there is nothing to divide by: all `q` are 0.

**Predict.** How many bytes are 262,144 weights (256 rows of 1024), as float32 and like this?
"""


# %%
#| export
BLOCK = 32  # weights that share a step and a minimum
MOST_HALF = 65504.0  # the largest float16


def check_q4(nibbles, d, m):
    """(n, blocks) of weights in four bits.

    raises TypeError for other dtypes than uint8 and float16, ValueError for shapes that do not fit
    """
    n, blocks, half = check_bytes("nibbles", nibbles, ndim=3, dtype=np.uint8)
    if half != BLOCK // 2:
        raise ValueError(f"nibbles has shape {nibbles.shape}: {BLOCK // 2} bytes a block needed")
    for name, x in (("d", d), ("m", m)):
        if check_bytes(name, x, ndim=2, dtype=np.float16) != (n, blocks):
            raise ValueError(f"the shape of {name} is {x.shape}, that of nibbles {nibbles.shape}")
    return n, blocks


# %%
def pack_q4_spec(w):
    """(nibbles, d, m) weight by weight, in Python's floats."""
    n, blocks = len(w), w.shape[1] // 32
    nibbles = np.zeros((n, blocks, 16), np.uint8)
    d, m = np.zeros((n, blocks), np.float16), np.zeros((n, blocks), np.float16)
    for row in range(n):
        for block in range(blocks):
            weights = w[row, 32 * block : 32 * block + 32].astype(np.float64).tolist()
            d[row, block] = (max(weights) - min(weights)) / 15
            m[row, block] = min(weights)
            step, least = float(d[row, block]), float(m[row, block])
            q = [min(max(round((v - least) / step), 0), 15) if step else 0 for v in weights]
            nibbles[row, block] = [low + 16 * high for low, high in zip(q[:16], q[16:])]
    return nibbles, d, m


def unpack_q4_spec(nibbles, d, m):
    """The weights, one after the other."""
    n, blocks, _ = nibbles.shape
    w = np.zeros((n, 32 * blocks), np.float32)
    for row, column in np.ndindex(*w.shape):
        block, i = divmod(column, 32)
        byte = int(nibbles[row, block, i % 16])
        q = byte % 16 if i < 16 else byte // 16
        w[row, column] = q * float(d[row, block]) + float(m[row, block])
    return w


def q4_weights(n, blocks, draw):
    """Weights (n, 32 * blocks) of which no q is in doubt, whatever way it is worked out."""
    q = draw.integers(0, 16, (n, blocks, 32))
    q[..., 3], q[..., 20] = 0, 15
    steps = q + draw.uniform(-0.3, 0.3, q.shape)
    steps[..., 3], steps[..., 20] = 0, 15
    d = 2.0 ** draw.integers(-9, 1, (n, blocks, 1)) * draw.integers(30, 40, (n, blocks, 1)) / 32
    m = draw.integers(-64, 9, (n, blocks, 1)) / 16 * d
    return (steps * d + m).astype(np.float32).reshape(n, -1)


# %% nbgrader={"grade": false, "grade_id": "pack_q4", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def pack_q4(w):
    """Weights in four bits each, in blocks of 32 along a row, as in the format Q4_1.

        d = float16((max - min) / 15) and m = float16(min) of the block
        q = clip(rint((w - m) / d), 0, 15), with d and m as rounded; 0 where d is 0
        nibbles[row, block, i] = q[i] + 16 * q[16 + i]

    w : (n, k) float32 or float64, k a multiple of 32; not modified
    returns (nibbles, d, m): uint8 (n, k / 32, 16), float16 (n, k / 32), float16 (n, k / 32)
    raises TypeError and ValueError as finite_floats, ValueError for another k and for numbers
        beyond the range of float16

    >>> nibbles, d, m = pack_q4(np.arange(32.0)[None] / 2)
    >>> nibbles[0, 0, :3].tolist(), float(m[0, 0])
    ([128, 128, 145], 0.0)
    """
    w = finite_floats("w", w, ndim=2)
    n, k = w.shape
    if k % BLOCK:
        raise ValueError(f"w has {k} columns: a multiple of {BLOCK} needed")
    if np.abs(w).max(initial=0) > MOST_HALF:
        raise ValueError(f"w has numbers beyond {MOST_HALF:.0f}, float16's largest")
    blocks = w.reshape(n, k // BLOCK, BLOCK)
    # Hint: d and m from the exact min and max along axis 2, then both to float16 and back;
    #       np.where for d = 0; the halves are q[..., :16] and q[..., 16:]. About 8 lines.
    ### BEGIN SOLUTION
    least = blocks.min(axis=2)
    span = blocks.max(axis=2) - least
    d, m = (span / np.float32(15)).astype(np.float16), least.astype(np.float16)
    step = np.where(d == 0, np.float32(np.inf), d.astype(np.float32))[..., None]
    steps = (blocks - m.astype(np.float32)[..., None]) / step
    q = np.clip(np.rint(steps), 0, 15).astype(np.uint8)
    return q[..., :16] | q[..., 16:] << 4, d, m
    ### END SOLUTION


def unpack_q4(nibbles, d, m):
    """The weights that were packed: d * q + m.

    nibbles, d, m : as pack_q4 gives them; not modified
    returns a new float32 array (n, 32 * blocks)
    raises TypeError and ValueError as check_q4

    >>> nibbles = np.full((1, 1, 16), 0x31, np.uint8)
    >>> unpack_q4(nibbles, np.float16([[0.5]]), np.float16([[-1]]))[0, 14:18]
    array([-0.5, -0.5,  0.5,  0.5], dtype=float32)
    """
    n, blocks = check_q4(nibbles, d, m)
    # Hint: & 15 and >> 4, np.concatenate along the last axis, d and m as float32. About 5 lines.
    ### BEGIN SOLUTION
    q = np.concatenate([nibbles & 15, nibbles >> 4], axis=2).astype(np.float32)
    d, m = (x.astype(np.float32)[..., None] for x in (d, m))
    return (q * d + m).reshape(n, BLOCK * blocks)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "pack_q4-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
marks = np.array([0, 15, 3, 8, 1, 11.7, 6, 10, 2, 14, 5, 9, 4, 11, 7, 13, 10.499, *range(15)])
for n, blocks in ((1, 1), (3, 2), (2, 1)):
    steps = np.array([[np.roll(marks, 5 * row + b) for b in range(blocks)] for row in range(n)])
    unit = 0.1 * 2.0 ** np.arange(blocks)[:, None]  # 0.1 is no float16
    w = (steps * unit - 1).astype(np.float32).reshape(n, -1)
    if n == 2:
        w[1] = 7  # a constant block
    nibbles, d, m = pack_q4_spec(w)
    q = np.concatenate([nibbles & 15, nibbles >> 4], 2)
    got = expect_unchanged(pack_q4, w)
    expect_equal(len(got), 3, hint="return nibbles, d, m")
    causes = {
        "a grid of 16 marks has 15 steps": lambda: (d.astype(np.float32) * 15 / 16).astype(
            np.float16
        ),
        "d of the whole row: each block has its own": lambda: np.broadcast_to(
            (np.ptp(w, axis=1, keepdims=True) / 15).astype(np.float16), d.shape
        ),
    }
    expect_equal(got[1], d, likely=causes, hint="d = (max - min) / 15 of each block, as float16")
    expect_equal(got[2], m, hint="m is the smallest weight of each block, as float16")
    exact = w.reshape(n, blocks, 32).astype(float)
    true_d, true_m = np.ptp(exact, axis=2, keepdims=True) / 15, exact.min(2, keepdims=True)
    unrounded = np.rint((exact - true_m) / np.where(true_d == 0, 1, true_d)).astype(np.uint8)
    causes = {
        "pairs (2 i, 2 i + 1): byte i holds weights i and 16 + i": lambda: (
            q[..., ::2] | q[..., 1::2] << 4
        ),
        "the halves are exchanged: the low four bits belong to weight i": lambda: (
            q[..., 16:] | q[..., :16] << 4
        ),
        "q from the unrounded d and m: use the float16 that will be read back": lambda: (
            unrounded[..., :16] | unrounded[..., 16:] << 4
        ),
        "astype alone truncates: rint first": lambda: (lambda t: t[..., :16] | t[..., 16:] << 4)(
            np.clip(
                (exact - m[..., None].astype(float)) / np.where(d == 0, np.inf, d)[..., None], 0, 15
            ).astype(np.uint8)
        ),
    }
    hint = "q[i] in the low four bits, q[16 + i] in the high ones; a constant block: q = 0"
    expect_equal(got[0], nibbles, likely=causes, hint=hint)
    want = unpack_q4_spec(nibbles, d, m)
    at, least = d.astype(float)[..., None], m.astype(float)[..., None]
    causes = {
        "m was not added": lambda: (q * at).reshape(n, -1),
        "the weights came in pairs: byte i holds weights i and 16 + i": lambda: (
            np.stack([nibbles & 15, nibbles >> 4], 3).reshape(n, blocks, 32) * at + least
        ).reshape(n, -1),
        "the halves are exchanged: the low four bits are weight i": lambda: (
            np.concatenate([nibbles >> 4, nibbles & 15], 2) * at + least
        ).reshape(n, -1),
    }
    got = expect_unchanged(unpack_q4, nibbles, d, m)
    hint = "d * q + m in float32"
    expect_close(got, want, inner=3, scale=np.abs(want).max(), likely=causes, hint=hint)
w = (0.005 * marks - 8.003)[None].astype(np.float32)  # the smallest lies 0.6 steps from its m
want = pack_q4_spec(w)
nibbles, d, m = expect_unchanged(pack_q4, w)
expect_equal(d, want[1], hint="d from the exact max and min; then it is rounded to float16")
expect_equal(m, want[2], hint="m is the smallest weight, as float16")
hint = "q = clip(rint((w - m) / d), 0, 15), with d and m as float16 holds them"
expect_equal(nibbles, want[0], hint=hint)
expect_raises(ValueError, pack_q4, np.ones((1, 33)), hint="k is a multiple of 32")

# %% nbgrader={"grade": true, "grade_id": "pack_q4-hidden", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 3 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("pack_q4-hidden")
for n, blocks in ((1, 3), (7, 1), (4, 5)):
    for dtype in (np.float32, np.float64):
        w = q4_weights(n, blocks, draw).astype(dtype)
        want = pack_q4_spec(w)
        got = expect_fresh(pack_q4, w)
        hint = "any number of rows and blocks, both dtypes"
        expect_equal(got, want, hint=hint)
        got = expect_fresh(unpack_q4, *want)
        w4 = unpack_q4_spec(*want)
        expect_close(got, w4, inner=3, scale=np.abs(w4).max(), hint=hint)
# By hand: d = 0.5, m = -1; q = 0, 1, ..., 15 and then 15, 14, ..., 0.
w = (np.r_[np.arange(16), np.arange(16)[::-1]] * 0.5 - 1).astype(np.float32)[None]
fixed = bytes.fromhex("f0e1d2c3b4a5968778695a4b3c2d1e0f")
want = np.frombuffer(fixed, np.uint8).reshape(1, 1, 16), np.float16([[0.5]]), np.float16([[-1]])
expect_equal(expect_unchanged(pack_q4, w), want, hint="the bytes of Q4_1, one by one")
w = np.zeros((1, 32))
w[0, :6] = 15, 0.5, 1.5, 2.5, 13.5, 14.5
want = pack_q4_spec(w)
expect_equal(expect_unchanged(pack_q4, w), want, hint="ties go to the even number: rint")
w = np.linspace(0, 21 * 2.0**-24, 32)[None]  # 15 steps of 1.4 * 2^-24, which is 2^-24 in float16
want = pack_q4_spec(w)
hint = "a d with few digits left: weights beyond 15 steps are clipped"
expect_equal(expect_unchanged(pack_q4, w), want, hint=hint)
normal = draw.standard_normal((6, 64)) * 10.0 ** draw.integers(-7, 4, (6, 1))
w = (normal + draw.integers(-1, 2, (6, 1))).astype(np.float32)
nibbles, d, m = expect_unchanged(pack_q4, w)
blocks = w.reshape(6, 2, 32).astype(np.float64)
back = unpack_q4_spec(nibbles, d, m).reshape(6, 2, 32)
off = np.abs(np.ptp(blocks, axis=2) / 15 - d.astype(float)) * 15
off += np.abs(blocks.min(2) - m.astype(float))
bound = 0.5 * d.astype(float) + off + 1e-6 * np.abs(blocks).max(2)
hint = "no weight moves by more than d / 2 and what the rounding of d and m costs"
expect_equal(bool((np.abs(back - blocks).max(2) <= bound).all()), True, hint=hint)
w = np.full((2, 64), -3.3, np.float32)
w[1, 5] += np.float32(1e-7 * 3)
nibbles, d, m = expect_unchanged(pack_q4, w)
hint = "a constant block, or one whose d is 0 as a float16: q = 0"
expect_equal(nibbles, np.zeros((2, 2, 16), np.uint8), hint=hint)
expect_equal(d, np.zeros((2, 2), np.float16), hint=hint)
w = np.full((1, 32), 2050.9, np.float32)  # as a float16 its m is 2050 or 2052
nibbles = expect_unchanged(pack_q4, w)[0]
expect_equal(nibbles, np.zeros((1, 1, 16), np.uint8), hint="where d is 0, q is 0: nothing to divide")
for name, x in layouts(q4_weights(3, 2, draw)):
    want = pack_q4_spec(x)
    expect_equal(expect_unchanged(pack_q4, x), want, hint=f"w may be {name}")
for name, x in layouts(want[0]):
    got = expect_unchanged(unpack_q4, x, *want[1:])
    expect_close(got, unpack_q4_spec(*want), inner=3, scale=99.0, hint=f"nibbles may be {name}")
for n, k in ((0, 32), (2, 0)):
    got = pack_q4(np.zeros((n, k)))
    wanted = [np.zeros((n, k // 32, 16), np.uint8), *[np.zeros((n, k // 32), np.float16)] * 2]
    expect_equal(got, tuple(wanted), hint="no row or no block", allow_empty=True)
    got = unpack_q4(*wanted)
    expect_equal(got, np.zeros((n, k), np.float32), hint="no row or no block", allow_empty=True)
expect_raises(ValueError, pack_q4, np.full((1, 32), 1e5), hint="beyond float16: ValueError")
expect_raises(ValueError, pack_q4, np.full((1, 32), np.nan), hint="NaN: finite_floats")
expect_raises(ValueError, pack_q4, np.ones(32), hint="one axis is missing: finite_floats")
signed = want[0].view(np.int8)
expect_raises(TypeError, unpack_q4, signed, *want[1:], hint="nibbles have no sign: check_q4")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
weights = (np.random.default_rng(9).standard_normal((256, 1024)) / 32).astype(np.float32)
try:
    nibbles, d, m = pack_q4(weights)
    error4 = unpack_q4(nibbles, d, m) - weights
    q, scale = quantize(weights, 0)
    error8 = dequantize(q, scale, 0) - weights
except NotImplementedError:
    print("left out: an exercise is not written yet")
else:
    size = np.mean(weights**2)
    rows = [
        ("float32", weights.nbytes, None),
        ("int8, a scale a row", q.nbytes + scale.nbytes, error8),
    ]
    rows.append(("4 bits, blocks of 32", nibbles.nbytes + d.nbytes + m.nbytes, error4))
    print(f"{weights.size:,} weights      bytes   bits a weight   signal / noise")
    for name, size_in_bytes, error in rows:
        ratio = "-" if error is None else f"{10 * np.log10(size / np.mean(error**2)):.1f} dB"
        print(f"{name:21}{size_in_bytes:10,}{8 * size_in_bytes / weights.size:12.2f}{ratio:>18}")

# %% [markdown]
r"""
## Exercise 7: multiply without unpacking

The product of such a matrix with a vector, what a language model does for every word and every layer, need not write one weight as a float to memory. Put the formula of a block into the sum:

$$y_r = \sum_{b} \Big( d_{rb} \sum_{i} q_{rbi}\, x_{32 b + i} \;+\; m_{rb} \sum_{i} x_{32 b + i} \Big)$$

The last sum is the same for all rows: it is worked out once. What remains is the sum of `q x` in a block, and here lies a trap. Row after row, as the bytes come from `pack_q4`, the innermost loop has 16 turns and ends in *one* number. It is too short to be worth vectors; the compiler unrolls it and does everything one by one.

Turn the loops around: let the *rows* be innermost. Then each turn takes one byte from each of hundreds of rows, multiplies its two halves with two numbers that do not change, and adds to a number of its own. For that, the bytes of all rows must lie next to each other: *interleaved*.
"""

# %% jupyter={"source_hidden": true} tags=["raises-exception"]
#| measure
if plots := new_plots("Byte i of row r, as it lies in memory", ("", ""), ("", ""), height=2.4):
    from matplotlib.patches import Rectangle

    for axes, title in zip(plots, ("row after row", "rows interleaved")):
        for place in range(16):
            r, i = divmod(place, 4) if title == "row after row" else divmod(place, 4)[::-1]
            colour = (BLUE, ORANGE, GREEN, RED)[r]
            corner = place % 8, 1 - place // 8
            axes.add_patch(Rectangle(corner, 0.95, 0.8, fc=colour, ec="0.5", alpha=0.75))
            axes.text(corner[0] + 0.47, corner[1] + 0.4, f"r{r} i{i}", ha="center", va="center")
        axes.plot([0, 3.95], [1.95, 1.95], color="0.5", lw=3)
        axes.set(xlim=(-0.1, 8.1), ylim=(-0.1, 2.2))
        axes.set_title(title, color="0.5", fontsize=10)
        axes.axis("off")
    show_plots(plots, "Sixteen bytes twice: four of one row together, or one of each row together")

# %% [markdown]
"""
*Figure: the first bytes of four rows, in four colours. Left, as `pack_q4` gives them: all bytes of row 0, then of row 1. Right, interleaved: byte 0 of all rows, then byte 1 of all rows. A bar marks what the innermost loop walks over.*

The order of the loops is what decides; two smaller things keep the kernel tidy. A bare `15` is an int64, and so is `byte & 15` as the code is written, whatever the compiler makes of it: with `LOW_BITS` and `FOUR`, which are uint8, a byte stays a byte. And the scratch vector for the sums of a block is made *once*, not once a block.

**Predict.** The same nibbles, the same products. How many times as fast is the interleaved form?
"""


# %%
def q4_kernel_writes(kernel, columns, steps, least, x, sums):
    """What a kernel like q4_kernel writes into a y with sevens in it; it may change nothing else."""
    y = np.full(columns.shape[2], 7, np.float32)

    def q4_kernel(*inputs):
        kernel(*inputs, y)

    expect_unchanged(q4_kernel, columns, steps, least, x, sums)
    return y


def interleave_spec(nibbles, d, m):
    """(bytes, steps, least) with the rows innermost, each contiguous."""
    steps, least = (np.array(part.T, np.float32, order="C") for part in (d, m))
    return nibbles.transpose(1, 2, 0).copy(), steps, least


def matvec_q4_spec(nibbles, d, m, x):
    """The weights written out, then row after row in float64."""
    w = unpack_q4_spec(nibbles, d, m).astype(np.float64)
    return np.array([math.fsum(row * x.astype(np.float64)) for row in w])


# %% jupyter={"source_hidden": true}
#| export
LOW_BITS, FOUR = np.uint8(15), np.uint8(4)


def vector_for(x, blocks):
    """The vector as contiguous float32, for a matrix with so many blocks in a row.

    raises TypeError and ValueError as check_float_array, ValueError for another length
    """
    (k,) = check_float_array("x", x, ndim=1)
    if k != BLOCK * blocks:
        raise ValueError(f"x has {k} elements, the weights {BLOCK * blocks} columns")
    return np.array(x, np.float32, order="C")


@kernel
def q4_row_by_row(nibbles, d, m, x, y):
    """What the speed of yours is compared with: the bytes as pack_q4 gives them, row after row."""
    for r in range(len(nibbles)):
        total = np.float32(0)
        for b in range(nibbles.shape[1]):
            row, part, plain = nibbles[r, b], np.float32(0), np.float32(0)
            for i in range(16):
                low, high = x[32 * b + i], x[32 * b + 16 + i]
                part += low * np.float32(row[i] & LOW_BITS) + high * np.float32(row[i] >> FOUR)
                plain += low + high
            total += d[r, b] * part + m[r, b] * plain
        y[r] = total


def matvec_q4_rows(nibbles, d, m, x):
    """The product of packed weights with a vector, without rearranging them: slow.

    nibbles, d, m : as pack_q4 gives them
    x             : (32 * blocks,) float32
    """
    n, blocks = check_q4(nibbles, d, m)
    y, x = np.empty(n, np.float32), vector_for(x, blocks)
    nibbles = np.ascontiguousarray(nibbles)
    q4_row_by_row(nibbles, d.astype(np.float32), m.astype(np.float32), x, y)
    return y


# %% nbgrader={"grade": false, "grade_id": "matvec_q4", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, spec
#| writes: y
def interleave_q4(nibbles, d, m):
    """Weights in four bits, arranged for matvec_q4: rows innermost.

        bytes[b, i, r] = nibbles[r, b, i]        steps[b, r] = d[r, b]        least[b, r] = m[r, b]

    nibbles, d, m : as pack_q4 gives them; not modified
    returns (bytes, steps, least): uint8 (blocks, 16, n), float32 (blocks, n), float32 (blocks, n),
        all contiguous and new
    raises TypeError and ValueError as check_q4

    >>> packed = interleave_q4(*pack_q4(np.zeros((5, 64), np.float32)))
    >>> [x.shape for x in packed]
    [(2, 16, 5), (2, 5), (2, 5)]
    """
    check_q4(nibbles, d, m)
    # Hint: transpose, and np.array(..., dtype, order="C") of that: a new array in C order. (astype
    #       alone keeps the order in memory.) About 4 lines.
    ### BEGIN SOLUTION
    columns = np.array(nibbles.transpose(1, 2, 0), order="C")
    steps, least = (np.array(x.T, np.float32, order="C") for x in (d, m))
    return columns, steps, least
    ### END SOLUTION


@kernel
def q4_kernel(columns, steps, least, x, sums, y):
    """The product of interleaved weights with a vector.

        y[r] = sum over b of (steps[b, r] * sum over i of q[b, i, r] * x[32 * b + i]
                              + least[b, r] * sums[b])

    columns, steps, least : as interleave_q4 gives them
    x    : (32 * blocks,) float32
    sums : (blocks,) float32, the sum of x in each block
    y    : (n,) float32 with anything in it; changed
    """
    # Hint: for b, for i, for r: byte columns[b, i, r] belongs to x[32 * b + i] by its low bits and
    #       to x[32 * b + 16 + i] by its high ones. About 14 lines.
    ### BEGIN SOLUTION
    blocks, half, n = columns.shape
    part = np.empty(n, np.float32)
    y[:] = np.float32(0)
    for b in range(blocks):
        part[:] = np.float32(0)
        for i in range(half):
            low, high, row = x[BLOCK * b + i], x[BLOCK * b + half + i], columns[b, i]
            for r in range(n):
                byte = row[r]
                part[r] += low * np.float32(byte & LOW_BITS) + high * np.float32(byte >> FOUR)
        step, lowest, total = steps[b], least[b], sums[b]
        for r in range(n):
            y[r] += step[r] * part[r] + lowest[r] * total
    ### END SOLUTION


def matvec_q4(packed, x):
    """The product of weights in four bits with a vector, without writing the weights out.

        y[r] = sum over j of w[r, j] * x[j], with w as unpack_q4 gives it

    packed : (n, k) weights, interleave_q4(nibbles, d, m)
    x      : (k,) float32 or float64, any stride; not modified
    returns (n,) float32, a new array
    raises TypeError and ValueError as vector_for, ValueError for arrays that do not fit together

    >>> matvec_q4(interleave_q4(*pack_q4(np.ones((2, 32)))), np.arange(32.0))
    array([496., 496.], dtype=float32)
    """
    columns, steps, least = packed
    blocks, half, n = columns.shape
    if half != BLOCK // 2 or not steps.shape == least.shape == (blocks, n):
        raise ValueError(f"packed has shapes {columns.shape}, {steps.shape}, {least.shape}")
    x = vector_for(x, blocks)
    y = np.empty(n, np.float32)
    q4_kernel(columns, steps, least, x, x.reshape(blocks, BLOCK).sum(axis=1), y)
    return y


# %% nbgrader={"grade": true, "grade_id": "matvec_q4-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
plain = getattr(q4_kernel, "py_func", q4_kernel)
for n, blocks in ((3, 1), (5, 2), (33, 3)):
    weights = q4_weights(n, blocks, np.random.default_rng(n))
    nibbles, d, m = pack_q4_spec(weights)
    x = quarters(32 * blocks, most=4, seed=n)
    columns, steps, least = interleave_spec(nibbles, d, m)
    got = expect_unchanged(interleave_q4, nibbles, d, m)
    expect_equal(len(got), 3, hint="return the bytes, the steps, the least")
    causes = {
        "only the shape changed, not the order: transpose": lambda: nibbles.reshape(-1, 16, n)
    }
    hint = "bytes[b, i, r] = nibbles[r, b, i], steps[b, r] = d[r, b], least[b, r] = m[r, b]"
    expect_equal(got[0], columns, likely=causes, hint=hint)
    expect_equal(got[1], steps, hint=hint)
    expect_equal(got[2], least, hint=hint)
    contiguous = [bool(part.flags.c_contiguous) for part in got]
    hint = "a transposed view still lies row after row: copy it in C order"
    expect_equal(contiguous, [True] * 3, hint=hint)
    blocks_of_x = x.reshape(blocks, 32).astype(np.float64)
    sums = blocks_of_x.sum(1)
    w = unpack_q4_spec(nibbles, d, m).astype(np.float64)
    want, scale = matvec_q4_spec(nibbles, d, m, x), np.abs(w) @ np.abs(x)
    q = np.concatenate([nibbles & 15, nibbles >> 4], 2).astype(np.float64)
    of_q = (q * blocks_of_x).sum(2) * d  # (n, blocks)
    of_m = m * sums
    pairs = np.stack([nibbles & 15, nibbles >> 4], 3).reshape(n, blocks, 32)
    causes = {
        "m was forgotten: the error is m * sum(x), the same for every q": lambda: of_q.sum(1),
        "d was forgotten": lambda: (q * blocks_of_x).sum((1, 2)) + of_m.sum(1),
        "low and high bits are exchanged": lambda: (
            (np.roll(q, 16, 2) * blocks_of_x).sum(2) * d + of_m
        ).sum(1),
        "the bytes went with pairs of x: byte i belongs to x[i] and x[16 + i]": lambda: (
            (pairs * blocks_of_x).sum(2) * d + of_m
        ).sum(1),
        "only the last block is there: y[r] += for each": lambda: (of_q + of_m)[:, -1],
        "the sums of a block were not cleared for the next": lambda: (
            np.cumsum((q * blocks_of_x).sum(2), 1) * d + of_m
        ).sum(1),
        "the high bits are 16 times too large: shift them by FOUR": lambda: (
            (np.concatenate([q[..., :16], 16 * q[..., 16:]], 2) * blocks_of_x).sum(2) * d + of_m
        ).sum(1),
    }
    hint = "for b, for i, for r; y is cleared first"
    y = q4_kernel_writes(plain, columns, steps, least, x, sums.astype(np.float32))
    expect_close(
        y, want.astype(np.float32), inner=32 * blocks, scale=scale, likely=causes, hint=hint
    )
got = expect_unchanged(matvec_q4, (columns, steps, least), x)
hint = "compiled it must do the same as in Python"
expect_close(got, want.astype(np.float32), inner=32 * blocks, scale=scale, hint=hint)

# %% nbgrader={"grade": true, "grade_id": "matvec_q4-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("matvec_q4-hidden")
wrong = np.zeros((2, 1, 16), np.int8), *[np.ones((2, 1), np.float16)] * 2
expect_raises(TypeError, interleave_q4, *wrong, hint="bytes without a sign: check_q4")
plain = getattr(q4_kernel, "py_func", q4_kernel)
hint = "any number of rows and blocks"
for n, blocks in ((1, 1), (17, 1), (35, 4), (16, 7)):
    nibbles, d, m = pack_q4_spec(q4_weights(n, blocks, draw))
    columns, steps, least = interleave_spec(nibbles, d, m)
    expect_equal(expect_fresh(interleave_q4, nibbles, d, m), (columns, steps, least), hint=hint)
    x = draw.standard_normal(32 * blocks).astype(np.float32)
    want = matvec_q4_spec(nibbles, d, m, x).astype("f4")
    scale = np.abs(unpack_q4_spec(nibbles, d, m)) @ np.abs(x)
    y = q4_kernel_writes(plain, columns, steps, least, x, x.reshape(blocks, 32).sum(1))
    expect_close(y, want, inner=33 * blocks, scale=scale, hint=hint)
nothing = np.zeros((0, 16, 3), np.uint8), *[np.zeros((0, 3), np.float32)] * 2
y = q4_kernel_writes(plain, *nothing, np.zeros(0, np.float32), np.zeros(0, np.float32))
expect_equal(y, np.zeros(3, np.float32), hint="no block: y is cleared all the same")
for x_so in (x, x.astype(np.float64)):
    got = expect_fresh(matvec_q4, (columns, steps, least), x_so)
    expect_close(got, want, inner=33 * blocks, scale=scale, hint="both dtypes, a new array")
for name, bytes_so in layouts(nibbles):
    got = expect_unchanged(interleave_q4, bytes_so, d, m)
    expect_equal(got[0], columns, hint=f"the bytes may be {name}")
for name, x_so in layouts(x):
    got = expect_unchanged(matvec_q4, (columns, steps, least), x_so)
    expect_close(got, want, inner=33 * blocks, scale=scale, hint=f"x is {name}")
for n, blocks in ((0, 2), (3, 0)):
    zeros = np.zeros((n, blocks, 16), np.uint8), *[np.zeros((n, blocks), np.float16)] * 2
    got = matvec_q4(interleave_q4(*zeros), np.ones(32 * blocks))
    want = np.zeros(n, np.float32)
    expect_equal(got, want, hint="no row, or no block: zeros", allow_empty=True)
hint = "an x of another length, or arrays that do not fit together: ValueError"
expect_raises(ValueError, matvec_q4, (columns, steps, least), x[:-32], hint=hint)
expect_raises(ValueError, matvec_q4, (columns, steps[:, :-1], least[:, :-1]), x, hint=hint)
expect_raises(ValueError, matvec_q4, (columns, steps, least[:-1]), x, hint=hint)
expect_raises(ValueError, matvec_q4, (columns[:, :-1], steps, least), x, hint=hint)
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "matvec_q4-scratch", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
plain = getattr(q4_kernel, "py_func", q4_kernel)
nibbles, d, m = pack_q4_spec(q4_weights(6, 4, np.random.default_rng(4)))
columns, steps, least = interleave_spec(nibbles, d, m)
x = quarters(128, most=4)
sums, scale = x.reshape(4, 32).sum(1), np.abs(unpack_q4_spec(nibbles, d, m)) @ np.abs(x)
want = matvec_q4_spec(nibbles, d, m, x).astype(np.float32)
for kind in (plain, q4_kernel):
    y = q4_kernel_writes(kind, columns, steps, least, x, sums)
    expect_close(y, want, inner=128, scale=scale, hint="right values first")
made = claim("allocations", q4_kernel, columns, steps, least, x, sums, y)
message = f"{made} allocation{'' if made == 1 else 's'} for 4 blocks"
advice = "" if made <= 2 else ": make the scratch vector once, before the loop over b"
points(1 if made <= 2 else 0, message + advice)

# %% nbgrader={"grade": true, "grade_id": "matvec_q4-speed", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]


def q4_inputs(rng):
    n, blocks = 1536, 18
    nibbles = rng.integers(0, 256, (n, blocks, 16), dtype=np.uint8)
    d = rng.uniform(0.01, 0.02, (n, blocks)).astype(np.float16)
    m = rng.uniform(-0.2, -0.1, (n, blocks)).astype(np.float16)
    return nibbles, d, m, rng.standard_normal(32 * blocks).astype(np.float32)


def interleaved(nibbles, d, m, x):
    # Not by interleave_q4: what it does is not measured, and could be the whole work.
    return interleave_spec(nibbles, d, m), x


points(
    speed(
        matvec_q4,
        matvec_q4_rows,
        q4_inputs,
        prepare=interleaved,
        inner=600,
        points=3,
        full={"avx512": 2.5, "avx2": 2},
        half={"avx512": 1.3, "avx2": 1.2},
        hint="unrolled, not vectorised: the loop over the rows belongs innermost",
    )
)

# %% jupyter={"source_hidden": true}
#| export
from typing import NamedTuple

from tinykernels.simd.vec import vbcast, vfma, vstore, vzero


class GroupedQ4(NamedTuple):
    """4-bit weights with VL rows side by side, for matvec_q4_bytes.

    words : (ceil(n / VL), k / 32, 5, VL) int32. A block of 32 weights of a row is five numbers of
            32 bits, as in a file: d and m together, and the four of its nibbles. Each of the five
            stands beside those of the next rows. Rows that do not exist are 0.
    n     : rows
    """

    words: np.ndarray
    n: int


def group_q4(nibbles, d, m):
    """The same weights, VL rows side by side; copied."""
    n, blocks = check_q4(nibbles, d, m)
    words = np.zeros((-(-n // VL) * VL, blocks, 5), np.int32)
    halves = words.view(np.uint16)
    halves[:n, :, 0], halves[:n, :, 1] = d.view(np.uint16), m.view(np.uint16)
    words[:n, :, 1:] = np.ascontiguousarray(nibbles).view(np.int32)
    grouped = aligned_empty((len(words) // VL, blocks, 5, VL)).view(np.int32)
    grouped[:] = words.reshape(-1, VL, blocks, 5).transpose(0, 2, 3, 1)
    return GroupedQ4(grouped, n)


@kernel
def quantize_blocks(x, q, scales, sums):
    """x in int8, block by block of 32, each by its own scale; and the sums of the blocks of x."""
    for b in range(len(scales)):
        block, codes = x[BLOCK * b : BLOCK * (b + 1)], q[BLOCK * b : BLOCK * (b + 1)]
        top, total = np.float32(0), np.float32(0)
        for i in range(len(block)):
            top = max(top, abs(block[i]))
            total += block[i]
        scales[b], sums[b] = top / np.float32(127), total
        steps = np.float32(127) / top if top > 0 else np.float32(0)
        for i in range(len(block)):
            codes[i] = np.int8(np.rint(block[i] * steps))


@kernel
def matvec_q4_bytes_kernel(grouped, x, scales, sums, y):
    """y = W x, VL rows at a time, each block by eight dot products of bytes.

    grouped : as group_q4 makes it
    x       : (k / 4,) int32, four numbers of 8 bits in each; scales and sums as quantize_blocks
    y       : (rows, a multiple of VL) float32; changed
    """
    groups, blocks = grouped.shape[:2]
    for g in range(groups):
        words, total = grouped[g].reshape(-1), vzero()
        for b in range(blocks):
            at, even, odd = 5 * VL * b, izero(), izero()
            for i in range(4):
                bytes_ = iload(words, at + VL * (i + 1))
                even = vdp4(half_bytes(bytes_, 0), ibcast(x, 8 * b + i), even)
                odd = vdp4(half_bytes(bytes_, 4), ibcast(x, 8 * b + 4 + i), odd)
            steps = iload(words, at)
            scale = vfma(ihalf(steps, 0), vbcast(scales, b), vzero())
            total = vfma(scale, ifloat(iadd(even, odd)), total)
            total = vfma(ihalf(steps, 16), vbcast(sums, b), total)
        vstore(y, VL * g, total)


def matvec_q4_bytes(packed, x):
    """W x with x in 8 bits, block by block, and sums in integers.

    packed : group_q4 of the weights
    x      : (k,) float32 or float64; each number is off by half a step of its block at most
    returns (n,) float32
    raises TypeError and ValueError as vector_for
    """
    groups, blocks = packed.words.shape[:2]
    x = vector_for(x, blocks)
    q, (scales, sums) = np.empty(len(x), np.int8), np.empty((2, blocks), np.float32)
    quantize_blocks(x, q, scales, sums)
    y = np.empty(VL * groups, np.float32)
    matvec_q4_bytes_kernel(packed.words, q.view(np.int32), scales, sums, y)
    return y[: packed.n]


# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call
from tito.machine.blas import one_thread

draw = np.random.default_rng(9)
try:
    for n, k in ((1536, 576), (4096, 1024)):
        weights = (draw.standard_normal((n, k)) / 32).astype(np.float32)
        x = draw.standard_normal(k).astype(np.float32)
        q4 = pack_q4(weights)
        packed, kilobytes = interleave_q4(*q4), sum(part.nbytes for part in q4) / 1024
        with one_thread():
            of_floats = time_call(np.matmul, weights, x).median
        rows = [("float32, NumPy's @", of_floats)]
        rows.append(("4 bits, row after row", time_call(matvec_q4_rows, *q4, x).median))
        rows.append(("4 bits, interleaved", time_call(matvec_q4, packed, x).median))
        grouped = group_q4(*q4)
        rows.append(("4 bits, vdp4", time_call(matvec_q4_bytes, grouped, x).median))
        print(
            f"{n} x {k}: {weights.nbytes / 1024:,.0f} KB as float32, {kilobytes:,.0f} KB in 4 bits"
        )
        for name, seconds in rows:
            print(f"  {name:24}{seconds * 1e6:8.0f} us{of_floats / seconds:8.2f} times @")
except NotImplementedError:
    print("left out: an exercise is not written yet")

# %% [markdown]
"""
The same nibbles and the same products, in another order. (Only `d` and `m` have grown: interleaved they are float32, so a weight takes six bits instead of five. The sizes in the table are those of `pack_q4`.) As long as the floats come from a cache, though, even the better order need not be faster than they are: turning nibbles into floats takes instructions, and the bytes saved were not what the floats waited for. Once the floats must come from memory, that changes.

The last line of each table is the given `matvec_q4_bytes`. It never makes floats of the weights: it rounds `x` to eight bits, block by block, and lets `vdp4` multiply the nibbles, which are bytes from 0 to 15, with them; `group_q4` lays the rows side by side for it, a register of rows at a time. This is the engine of module 15. Its price is the rounding of `x`.
"""

# %% [markdown]
"""
## Use it: the network in bytes

The two-layer network once more: 512 inputs, 1024 hidden units, 16 outputs. Its weights are quantized when it is loaded, and so are the scales of what runs through it, found on some examples beforehand (this is called *calibration*). Then only bytes are multiplied. Some hidden units are louder than others, as in real networks.

Two numbers count: how often the answer, the largest of the 16 outputs, is the same as in float32, and how long it takes.

**Predict.** Of 1,000 answers, how many change with one scale a layer? With one a column? With four bits?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call
from tito.machine.blas import one_thread

draw = np.random.default_rng(9)
first = draw.standard_normal((512, 1024)) / 23 * np.exp(draw.standard_normal(1024) / 2)
first, second = (w.astype(np.float32) for w in (first, draw.standard_normal((1024, 16)) / 32))
examples = draw.standard_normal((1000, 512)).astype(np.float32)
known = draw.standard_normal((200, 512)).astype(np.float32)


def in_floats(x):
    return np.maximum(x @ first, 0) @ second


def byte_network(axis):
    """The network on int8, with one scale for the weights of a layer or one for each column."""
    (q1, scale1), (q2, scale2) = quantize(first, axis), quantize(second, axis)
    q1, q2 = pack_k4(q1), pack_k4(q2)
    of_x = np.float32(np.abs(known).max() / 127)
    of_hidden = np.float32(np.maximum(known @ first, 0).max() / 127)
    back = of_x * scale1 / of_hidden  # from int32 sums to steps of the hidden units

    def network(x):
        sums = gemm_int8(round_to_int8(x, of_x), q1)
        hidden = round_to_int8(np.maximum(sums, 0) * back, np.float32(1))
        return gemm_int8(hidden, q2) * (of_hidden * scale2)

    return network


try:
    four_bits = [unpack_q4(*pack_q4(w.T)).T.copy() for w in (first, second)]
    networks = {
        "float32": in_floats,
        "int8, a scale a layer": byte_network(None),
        "int8, a scale a column": byte_network(1),
        "4-bit weights, as floats": lambda x: np.maximum(x @ four_bits[0], 0) @ four_bits[1],
    }
    packed = [interleave_q4(*pack_q4(w.T)) for w in (first, second)]
    networks["4-bit weights, matvec_q4"] = lambda x: matvec_q4(
        packed[1], np.maximum(matvec_q4(packed[0], x[0]), 0)
    )
    right = in_floats(examples)
    with one_thread():
        print("                            same answers    error     batch of 64   one example")
        for name, network in networks.items():
            batch = "-"
            if "matvec" in name:
                outputs = np.array([network(x[None]) for x in examples])
            else:
                outputs = network(examples)
                batch = f"{time_call(network, examples[:64]).median * 1e6:.0f} us"
            same = np.mean(outputs.argmax(1) == right.argmax(1))
            error = np.sqrt(np.mean((outputs - right) ** 2) / np.mean(right**2))
            one = time_call(network, examples[:1]).median * 1e6
            print(f"{name:28}{same:10.1%}{error:11.2%}{batch:>14}{one:11.0f} us")
except NotImplementedError as error:
    print(f"left out: {str(error) or 'an exercise is not written yet'}")

# %% [markdown]
"""
Look at where the time goes for one example, and for a batch. Rounding the inputs, packing them, scaling the sums: each is a walk of NumPy over an array, and for one example they cost more than the product. Module 10 is about making fewer such walks.

## Scoreboard

Every rung of this module beside the floats, each compared with its specification before it is timed. For products of bytes the table counts operations as if they were flops; for the matrices times a vector it shows the bytes that the weights take.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels.simd import gemm as simd
from tito.machine import Rung, scoreboard

draw = np.random.default_rng(9)
a, b = whole(384, 384), whole(384, 384, seed=1)
floats = a.astype(np.float32), b.astype(np.float32)
exact = int8_by_rows(a, b)
of_bytes = dict(args=(a, b), flops=2 * 384**3, check=partial(expect_equal, want=exact))
of_floats = dict(
    args=floats,
    flops=2 * 384**3,
    check=partial(expect_close, want=exact.astype(np.float32), inner=384),
)
weights = (draw.standard_normal((2048, 1024)) / 32).astype(np.float32)
x = draw.standard_normal(1024).astype(np.float32)
rungs = [
    Rung("float32 gemm (08)", simd.gemm, **of_floats),
    Rung("float32 @", np.matmul, **of_floats),
    Rung("int8 by rows", int8_by_rows, **of_bytes),
    Rung("int8_matmul", int8_matmul, **of_bytes),
    Rung("gemm_int8", gemm_int8, **of_bytes),
]
try:
    rungs.append(Rung("gemm_int8, packed", gemm_int8, **{**of_bytes, "args": (a, pack_k4(b))}))
    q4 = pack_q4(weights)
    near = unpack_q4(*q4).astype(np.float64) @ x
    check = partial(expect_close, want=near.astype(np.float32), inner=2048, scale=40.0)
    small = dict(nbytes=sum(part.nbytes for part in q4), check=check)
    rungs.append(Rung("q4 row after row", matvec_q4_rows, args=(*q4, x), **small))
    columns = interleave_q4(*q4)
    wider = dict(small, nbytes=sum(part.nbytes for part in columns))  # its d and m are float32
    rungs.append(Rung("q4 interleaved", matvec_q4, args=(columns, x), **wider))
    # With x in eight bits a result is off by up to half a step of x for each weight.
    off = np.abs(unpack_q4(*q4)).sum(axis=1) * np.abs(x).max() / 254
    coarse = dict(small, check=lambda y: expect_equal(bool((np.abs(y - near) <= off).all()), True))
    rungs.append(Rung("q4 by vdp4", matvec_q4_bytes, args=(group_q4(*q4), x), **coarse))
except NotImplementedError:
    print("Packed forms are left out: an exercise is not written yet.")
want = (weights.astype(np.float64) @ x).astype(np.float32)
check = partial(expect_close, want=want, inner=1024, scale=40.0)
rungs.append(
    Rung("float32 @ a vector", np.matmul, (weights, x), check=check, nbytes=weights.nbytes)
)
scoreboard(rungs, rounds=3)

# %% [markdown]
"""
## Think

Your answers here are read by a person. Three to six sentences each; numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. Why is the grid cut at -127, where a byte reaches to -128? And what would `quantized_relu` have to do on an affine grid, with a zero point?**

### BEGIN SOLUTION
1 point: symmetry: q and -q both exist, 0.0 is a mark, and negating never leaves the grid. An argument from hardware counts as well: two products of -128 * -128 leave 16 bits, which instructions that add pairs of products in 16 bits cannot hold.

1 point: on an affine grid 0.0 is at q = z, so ReLU is max(q, z), not max(q, 0); and after a ReLU a grid with z = 0 has all its 256 marks where the numbers are. Either with its reason.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. You may keep one layer of a network in eight bits, all others go to four. Which one, and how would you find out?**

### BEGIN SOLUTION
1 point: by measuring: quantize one layer at a time, run examples that the network was not tuned on, compare outputs or the task's own score; keep the layer whose quantization costs most (for the bytes that it would save). "The first" or "the last" by taste alone: 0.

1 point: a reason why layers differ, or numbers from the own network: outliers and loud columns (as in the histogram of exercise 1), the last layer decides between near answers, small layers save little anyway. Own numbers count fully.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. Where did the speed of four bits come from in your tables: from fewer bytes, or from better instructions?** Use your figures of exercise 7 and the bandwidth of your machine.

### BEGIN SOLUTION
1 point: between row after row and interleaved the weights take about the same bytes, so that factor is instructions alone (vectors instead of single numbers).

1 point: against float32: while the weights lie in a cache the kernel is bound by instructions and gains little or nothing; once the floats come from memory, bytes decide, by up to 32 / 5 = 6.4 times. Shown by own numbers: bytes of the weights divided by the time, beside the measured bandwidth (roofline).
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *Large numbers come back with the wrong sign.* Cast before clipping: 200 became -56.
- *Everything is a little too small.* `astype` without `np.rint` cuts off towards zero.
- *One row is right, the others are noise.* One loud row set the scale of all.
- *A product of bytes is right for small numbers only.* Somewhere on the way the sum was kept in 8 or 16 bits, or in a float32.
- *gemm_int8 is off by the same amount in a whole column.* The term with the sums of the columns: its sign, or the 128.
- *4-bit weights look scrambled.* Which half of the byte is which weight? Low bits first, and byte `i` holds `i` and `16 + i`.
- *The interleaved kernel is no faster.* The rows are not in the innermost loop, or the array was transposed but not copied.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 09` says the same;
- you have compared your predictions with what the cells printed, above all the two surprises: bytes without their instruction are slower than floats, and so are nibbles row after row;
- the three questions have an answer;
- `tito export 09` has written `tinykernels/quantized.py`, and `tito bench int8 q4` shows your kernels beside others.

## In production

int8 with a scale for each channel of the weights is what TensorFlow Lite, ONNX Runtime and PyTorch run on phones and servers; gemmlowp, and ruy after it, wrote down how to do it with whole numbers alone. oneDNN and FBGEMM use `vpdpbusd` as you did, with the sums of the columns taken off; newer CPUs multiply whole tiles of bytes (AMX), and their instructions know signed bytes too. The weights of large language models come in blocks of four bits: GGUF files with Q4_0, Q4_1 and the K formats, GPTQ and AWQ, which choose the marks by what the network does with them. llama.cpp rearranges some of its formats when it loads them, rows interleaved, for the reason of exercise 7.

**References**

- B. Jacob et al., *Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference*, CVPR 2018.
- R. Krishnamoorthi, *Quantizing deep convolutional networks for efficient inference: A whitepaper*, arXiv:1806.08342, 2018.
- gemmlowp documentation, *The low-precision paradigm in gemmlowp, and how it's implemented*.
- llama.cpp, ggml: the block formats in `ggml-common.h` and `ggml-quants.c`.
- T. Dettmers, M. Lewis, Y. Belkada, L. Zettlemoyer, *LLM.int8(): 8-bit Matrix Multiplication for Transformers at Scale*, NeurIPS 2022.

## Next

In a terminal:

    tito test 09       the visible tests, in a process of their own
    tito export 09     your kernels become tinykernels/quantized.py
    tito submit 09     the file to hand in

Then module 10: fewer walks over memory.
"""

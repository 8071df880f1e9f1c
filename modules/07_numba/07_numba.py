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
# 07 Numba: your loops as machine code, and the proof

| | |
|---|---|
| hours | 5 |
| difficulty | 4 of 5 |
| needs | 02_loops, 03_vectorize; the pictures of rows and lines from 04 help |
| code goes to | `tinykernels/jit.py` |
| points | 41 by tests, 6 by hand |

After this module you can

- compile a Python loop to vector instructions, and see in its assembly whether that happened;
- say which habits keep the compiler from it: a wrong loop order, an index that might be negative, a float64 constant, a chain of comparisons;
- hold sixteen numbers in registers and get twice the work out of every load;
- fuse softmax and layer norm into one walk over each row, and beat NumPy by a factor that you measured.

Compiling takes a moment: the first call of each kernel costs some tenths of a second, in all about half a minute of this module.

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
#| default_exp jit
#| export
import math
import threading

import numpy as np
from numba import njit, prange

from tinykernels import vectorized
from tinykernels.loops import FLOAT_DTYPES, check_float_array, check_matmul
from tinykernels.vectorized import check_out

# %% jupyter={"source_hidden": true}
# Given: what the tests and measurements below use.
import re
import statistics
import warnings
from fractions import Fraction
from functools import partial
from math import inf, nan

from numba.core.errors import NumbaPerformanceWarning

from tito.checks import (
    CheckFailed,
    all_code,
    claim,
    contents,
    counts,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_reads,
    expect_unchanged,
    expect_written,
    inner_loops,
    points,
    remote_array,
    rng,
    speed,
    trace,
)

# A kernel that is not written yet has no loop that could be shared out: the tests say so better.
warnings.filterwarnings("ignore", category=NumbaPerformanceWarning)


def ramp(*shape, seed=0, dtype=np.float32):
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
    yield "every second element of a larger array", stepped
    yield "a reversed view", np.flip(np.flip(x).copy())
    yield "a read-only array", frozen
    yield "an unaligned array", unaligned


def as_python(kernel):
    """(words, function): the kernel as the Python function it is written as."""
    name, plain = kernel.__name__, getattr(kernel, "py_func", None)
    if plain is None:
        raise CheckFailed(
            f"{name} is not compiled\n  try       put its decorator back, @kernel or @parallel_kernel"
        )
    yield f"{name} as plain Python (py_func)", plain


def python_and_compiled(kernel):
    """The kernel as the Python function it is written as, then as machine code."""
    yield from as_python(kernel)
    yield f"{kernel.__name__} compiled", kernel


def check_number(how, result):
    """A failed check where a function did not return a number."""
    if not isinstance(result, (int, float, np.number)):
        raise CheckFailed(
            f"{how}: returned {result!r}, which is no number\n  try       return the result"
        )


BLUE, ORANGE, GREEN, RED = "#56B4E9", "#E69F00", "#009E73", "#D55E00"


def new_plots(title, *labels):
    """Empty plots side by side for light and dark pages; an empty list without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("No plot: matplotlib is not installed. The numbers are printed.")
        return []
    grey = "0.5"
    figure = Figure(figsize=(4.6 * len(labels), 3.4), facecolor="none", layout="constrained")
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
## From Python to machine code

Numba reads the bytecode of a function, finds out the types of all variables from the types of the arguments, and hands the result to LLVM, the compiler behind Clang. The decorator below does that at the first call with each set of types. It carries the flags of this course:

- `error_model="numpy"`: a division by zero gives infinity, as in NumPy. Python's rule, an exception, would need a branch at every `/`, and a loop with a branch becomes no vectors.
- `fastmath={"reassoc", "contract"}`: sums may be added up in another order, and `a * b + c` may be one instruction. These two are *safe*: NaN and infinity keep their meaning. The full `fastmath=True` promises the compiler that neither of them ever comes, and the rule for masked rows of softmax would be gone.
- `nogil=True`: while the kernel runs, other threads may too.

`njit` means: no Python inside. What Numba cannot type, it refuses with a `TypingError`; read its last lines first.

**One kernel, two ways to run it.** `kernel(x, y)` runs the machine code, `kernel.py_func(x, y)` the Python function, line by line. Compiled code does *not* check an index: `x[len(x)]` reads whatever lies there, and writing there may end the notebook's Python. So the tests below call `py_func` first, where the same mistake is an `IndexError` with its line. Do the same when something is odd.

**One door, one signature.** Numba compiles a kernel again for every new combination of dtype, number of axes, memory layout and read-only flag. The public functions of this module therefore bring their arrays into one form first, and only then call the kernel. The next cell holds all of that in one worked example, ReLU.
"""


# %%
#| export
kernel = njit(error_model="numpy", fastmath={"reassoc", "contract"}, nogil=True)
parallel_kernel = njit(
    error_model="numpy", fastmath={"reassoc", "contract"}, nogil=True, parallel=True
)


def compiled_form(x):
    """The values of x in the one form that kernels are compiled for.

    x : an array
    returns x itself if it is C-contiguous, aligned and writeable, else a copy that is
    """
    if type(x) is np.ndarray and x.flags.carray:
        return x  # the usual case: NumPy's own check below takes microseconds
    return np.require(x, requirements="CAWE")


def settled(y, out):
    """out, filled with what a kernel wrote into y = compiled_form(out)."""
    if y is not out:
        out[...] = y
    return out


def place_for(x, out, *others, dtype=None):
    """What a result of the shape of x is written into: out, if it is one and fits, or a new array.

    x, others : inputs, of which out may be none; x has one axis or more
    dtype     : the only one that is taken, if not both are
    raises TypeError and ValueError as check_float_array and check_out
    """
    check_float_array("x", x, ndim=None, dtype=dtype)
    return check_out(out, x.shape, x, *others)


def ready(x, out):
    """Whether place_for would take out, and compiled_form both arrays as they are.

    All in one look, for the usual case: calls of Python functions have their price. Two arrays
    that own their memory, as most do, need not be asked whether they share it.
    """
    return (
        type(x) is np.ndarray is type(out)
        and x.dtype is out.dtype
        and x.dtype in FLOAT_DTYPES
        and x.shape == out.shape != ()
        and x.flags.carray
        and out.flags.carray
        and ((x.base is None is out.base and x is not out) or not np.may_share_memory(x, out))
    )


def by_rows(kernel, x, out, *given):
    """Let a kernel(x, *given, y) write the rows of out, the last axis of which is that of x."""
    rows = (math.prod(x.shape[:-1]), x.shape[-1])
    y = compiled_form(out)
    kernel(compiled_form(x).reshape(rows), *given, y.reshape(rows))
    return settled(y, out)


@kernel
def up_to_line(y):
    """How many elements of y lie before its first cache line, which begins at a multiple of 64.

    A vector that reaches over the end of a line is stored in two steps.
    """
    return min(len(y), (64 - y.ctypes.data % 64) % 64 // y.itemsize)


# n: number of elements
@kernel
def relu_kernel(x, y):
    zero, edge = x.dtype.type(0), up_to_line(y)
    for start, stop in ((0, edge), (edge, len(y))):
        source, target = x[start:stop], y[start:stop]
        for i in range(len(target)):
            value = source[i]
            target[i] = zero if value < zero else value


def relu_fused(x, out=None):
    """Zero in place of every negative element, in one pass over memory.

        y[...] = 0 where x[...] < 0, else x[...]

    x   : float32 or float64, one axis or more, any stride; not modified; NaN stays NaN
    out : an array of x's shape and dtype, or None for a new one
    returns out
    raises TypeError and ValueError as check_float_array and check_out

    >>> relu_fused(np.array([[-1.5, 0.0], [2.5, -np.inf]]))
    array([[0. , 0. ],
           [2.5, 0. ]])
    """
    if ready(x, out):
        relu_kernel(x.ravel(), out.ravel())
        return out
    out = place_for(x, out)
    y = compiled_form(out)
    relu_kernel(compiled_form(x).ravel(), y.ravel())
    return settled(y, out)


# m, k, n: rows, inner size, columns
@kernel
def matmul_ijk_kernel(a, b, c):
    zero = c.dtype.type(0)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = zero
            for p in range(a.shape[1]):
                total += b[p, j] * a[i, p]
            c[i, j] = total


def matmul_ijk(a, b, out=None):
    """The product of two matrices by the three loops of 02, compiled.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_ijk(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return multiply(matmul_ijk_kernel, a, b, out)


def multiply(kernel, a, b, out):
    """Let a kernel(a, b, c) write the product of a and b into out, or into a new array."""
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    c = compiled_form(out)
    kernel(compiled_form(a), compiled_form(b), c)
    return settled(c, out)


# %% [markdown]
"""
Look at `zero = x.dtype.type(0)`. A bare `0.0` is a float64, and one float64 in an expression makes the whole expression float64: vectors hold half as many numbers, and each of them is converted on the way in and out. Constants in a kernel have the dtype of the data.

What is all that worth? A copy moves every number once in and once out, and computes nothing: a ReLU cannot be done with less. The door has its price too, which does not depend on the size. The streams of the kernel push Python's own code and objects out of the first caches, so behind a large call the door costs more than behind a small one.

**Predict.** The kernel alone beside the copy of a million numbers: 0.5, 0.9 or 1 times as fast? And how long does the door take for a single row of 16?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import compare

for shape in ((1, 16), (1024, 1024)):
    x = ramp(*shape)
    out = np.empty_like(x)
    print(f"{shape[0]} x {shape[1]}")
    print(
        compare(
            copy=partial(np.copyto, out, x),
            relu_kernel=partial(relu_kernel, x.ravel(), out.ravel()),
            relu_fused=partial(relu_fused, x, out=out),
        )
    )

# %% [markdown]
"""
The loop itself runs at the speed of memory. What is left is the door. `ready` makes it half as long for the usual case; take its three lines out of `relu_fused`, and the results are the same.

## The gap

The three loops of 02 with one decorator, and nothing else changed. Beside them, `@`.

**Predict.** By how much does the decorator speed the loops up: 10, 100, 1000 times? And how far is that from `@`?
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import loops
from tito.machine import time_call
from tito.machine.blas import one_thread

rates = {}
for name, product, size in (
    ("loops of 02, in Python", loops.matmul_loops, 24),
    ("the same, compiled", matmul_ijk, 256),
    ("a @ b", np.matmul, 256),
):
    a, b = ramp(size, size), ramp(size, size, seed=1)
    try:
        with one_thread():
            seconds = time_call(product, a, b, repeats=5).median
    except NotImplementedError:
        print(f"{name:26}left out: tito export 02")
        continue
    rates[name] = 2 * size**3 / seconds / 1e9
    print(f"{name:26}{rates[name]:12.4f} GFLOP/s   ({size} x {size}, one thread)")
if len(rates) == 3:
    slow, mine, blas = rates.values()
    print(f"The decorator: {mine / slow:,.0f} times. What is left to @: {blas / mine:,.0f} times.")

# %% [markdown]
"""
The second factor is what this module is about. Not a line of it is left to a library.

## Exercise 1: Two lines change places

In the loops `i, j, p` the innermost loop walks down a *column* of `b`: each step jumps over a whole row of memory. In the order `i, p, j` it walks along a row of `b` and a row of `c`, with one factor from `a` that does not change:

<img alt="Three matrices a, b and c, twice. Above, in the order i, j, p: an arrow along a row of a, an arrow down a column of b, and one single element of c. Below, in the order i, p, j: one single element of a, an arrow along a row of b and an arrow along a row of c." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='560' height='250' viewBox='0 0 560 250' font-family='sans-serif' font-size='14'><title>What the innermost loop walks over</title>
<g fill='none' stroke='rgb(125,125,125)'><path d='M110 30h90v72h-90zM250 30h90v72h-90zM390 30h90v72h-90zM110 140h90v72h-90zM250 140h90v72h-90zM390 140h90v72h-90z'/></g>
<g stroke-width='4' fill='none'><path d='M114 52h80m-9 -6l9 6l-9 6' stroke='rgb(0,158,115)'/><path d='M286 34v62m-6 -9l6 9l6 -9' stroke='rgb(213,94,0)'/><path d='M254 162h80m-9 -6l9 6l-9 6' stroke='rgb(0,158,115)'/><path d='M394 162h80m-9 -6l9 6l-9 6' stroke='rgb(0,158,115)'/></g>
<path d='M420 46h12v12h-12zM140 156h12v12h-12z' fill='rgb(0,114,178)'/>
<g fill='rgb(125,125,125)'><text x='10' y='72'>i, j, p</text><text x='10' y='182'>i, p, j</text><text x='150' y='20'>a</text><text x='290' y='20'>b</text><text x='430' y='20'>c</text><text x='10' y='240'>blue: one number, kept. Green: along memory. Orange: a jump at every step</text></g>
</svg>">

Sixteen neighbours can be loaded by one instruction; sixteen elements of a column cannot. What the compiler then does is called *vectorising*: one instruction works on 4, 8 or 16 numbers at once.

Three things to mind. `c` arrives with anything in it, so a row is cleared before it is added to. `a[i, p]` is read once, before the loop over `j`: the compiler cannot know that writing to `c` leaves `a` alone. And `c[i, j] += x * b[p, j]` needs no constant at all.

**Predict.** Same multiplications, same additions, two lines exchanged. How many times as fast for 192 x 192?
"""


# %%
def matmul_spec(a, b):
    """The product in float64, one row of the result after the other."""
    rows = [(row[:, None] * b.astype(float)).sum(axis=0) for row in a.astype(float)]
    return np.array(rows, a.dtype).reshape(a.shape[0], b.shape[1])


def matmul_scale(a, b):
    """The terms of each sum added up without their signs: the scale of its rounding errors."""
    return np.abs(a).astype(float) @ np.abs(b).astype(float)


def draw_square(rng):
    return tuple(rng.standard_normal((192, 192), dtype=np.float32) for _ in range(3))


# %% nbgrader={"grade": false, "grade_id": "matmul_ikj", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, spec
#| writes: c
@kernel
def matmul_ikj_kernel(a, b, c):
    """c = a b with the loops in the order i, p, j; what stood in c does not count.

    a : (m, k), b : (k, n), c : (m, n), all C-contiguous and of one dtype; only c is changed
    k = 0 gives zeros; each a[i, p] is read once
    """
    # Hint: clear row i of c; then for each p keep a[i, p] and add its multiple of row p of b.
    #   About 7 lines.
    ### BEGIN SOLUTION
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]
    ### END SOLUTION


def matmul_ikj(a, b, out=None):
    """The product of two matrices, row of b by row of b; arguments as for matmul_ijk.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_ikj(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return multiply(matmul_ikj_kernel, a, b, out)


# %% nbgrader={"grade": true, "grade_id": "matmul_ikj-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in python_and_compiled(matmul_ikj_kernel):
    for m, k, n in ((2, 3, 4), (3, 1, 2), (2, 0, 3), (5, 7, 19)):
        a, b = ramp(m, k), ramp(k, n, seed=1)
        scale = matmul_scale(a, b) + 7
        wanted = matmul_spec(a, b)
        got = expect_written(run, a, b, np.full((m, n), 7, np.float32), place=2)
        causes = {
            "c was not cleared: the second call is doubled": lambda: wanted + np.float32(7),
            "only the last p is left: add to c": lambda: a[:, k - 1 :] * b[k - 1 :],
            "rows and columns of a have changed places": lambda: matmul_spec(a.T.copy(), b),
            "c came back as it was: fill c itself, a new array is lost": lambda: np.full(
                (m, n), 7, np.float32
            ),
        }
        hint = "clear row i of c, then add a[i, p] times row p of b for each p"
        case = f"{how}, a ({m}, {k}), b ({k}, {n})"
        expect_close(got, wanted, inner=k, scale=scale, likely=causes, hint=hint, case=case)
a, b = ramp(3, 4), ramp(4, 2, seed=2)
scale = matmul_scale(a, b)
wanted = matmul_spec(a, b)
got = expect_unchanged(matmul_ikj, a, b)
expect_close(
    got, wanted, inner=4, scale=scale, hint="the function around the kernel stays as it is"
)

# %% nbgrader={"grade": true, "grade_id": "matmul_ikj-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("matmul_ikj-hidden").standard_normal
sizes = ((1, 1, 1), (2, 3, 1), (1, 4, 2), (0, 2, 3), (2, 2, 0), (4, 0, 1), (6, 5, 33))
for run in (matmul_ikj_kernel.py_func, matmul_ikj_kernel):
    for m, k, n in sizes:
        a, b = normal((m, k)).astype(np.float32), normal((k, n)).astype(np.float32)
        scale = matmul_scale(a, b)
        wanted = matmul_spec(a, b)
        got = expect_written(run, a, b, np.full((m, n), nan, np.float32), place=2)
        hint = "any size; what stood in c does not count, NaN either"
        expect_close(got, wanted, inner=k, scale=scale, allow_empty=True, hint=hint)
left, right = normal((3, 5)), normal((5, 4))
scale = matmul_scale(left, right)
wanted = matmul_spec(left, right)
for (name, a), (_, b) in zip(layouts(left), layouts(right)):
    got = expect_fresh(matmul_ikj, b=b, a=a)
    expect_close(got, wanted, inner=5, scale=scale, hint=f"float64, a and b may each be {name}")
wanted = np.array([[nan, inf], [nan, nan]])
a, b = np.array([[0.0, 2.0], [1.0, 0.0]]), np.array([[nan, 1.0], [2.0, inf]])
expect_close(matmul_ikj(a, b), wanted, hint="NaN and infinity follow the arithmetic: skip no term")
whole = np.full((6, 8), 7.0)
out = whole[::2, ::-2]
got = matmul_ikj(left, right, out=out)
hint = "whoever passes out gets it back, filled, and nothing beside it changes"
same = got is out
expect_equal((got, same)[1], True, hint=hint)
wanted = matmul_spec(left, right)
expect_close(out.copy(), wanted, inner=5, scale=scale, hint=hint)
expect_equal(float(np.abs(whole[1::2] - 7).max()), 0.0, hint=hint)
expect_raises(TypeError, matmul_ikj, left, right.astype(np.float32), hint="mixed dtypes")
expect_raises(ValueError, matmul_ikj, left, left, hint="sizes that do not fit: ValueError")
### END HIDDEN TESTS

# %% [markdown]
"""
**Is it vectorised?** The next cell looks at three things. It runs your kernel in plain Python on arrays that count, and reads in which order `b` was read. And it reads the assembly that LLVM made of it. `inner_loops` finds the blocks that jump back to their own beginning, which is where the time goes; in them it looks for a *packed* multiplication (`vfmadd...ps`, `mulps`, on ARM `fmla v.4s`): one that multiplies several numbers. At last it is timed: a packed loop that stands somewhere and never runs is worth nothing.
"""

# %% nbgrader={"grade": true, "grade_id": "matmul_ikj-vectors", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
m, k, n = 3, 5, 8
a, b, c = (
    remote_array(x, name) for x, name in ((ramp(m, k), "a"), (ramp(k, n), "b"), (ramp(m, n), "out"))
)
wanted = matmul_spec(ramp(m, k), ramp(k, n))
matmul_ikj_kernel.py_func(a, b, c)
expect_close(contents(c), wanted, inner=k, scale=100, hint="right values first")
steps = np.diff(trace(b).addresses)
along = float(np.mean(steps == 4))
if along >= 0.75:
    expect_reads(b, least=m * k * n)
once = counts(a).reads <= m * k
asm = claim("assembly", matmul_ikj_kernel, ramp(16, 16), ramp(16, 16), ramp(16, 16))
packed = any(loop.multiplies for loop in inner_loops(asm))
missing = None
if along < 0.75:
    missing = (
        f"{100 * along:.0f} % of the steps in b go to the next element: the inner loop steps a "
        "whole row, so no packed instruction can load it. j is the innermost loop"
    )
elif not once:
    missing = (
        f"a was read {counts(a).reads} times for {m * k} elements: load a[i, p] once, before the "
        "loop over j"
    )
elif not packed:
    missing = (
        "no innermost loop holds a packed multiplication: is there a constant or a branch in it?"
    )
runs = "the packed loop in the assembly is not the one that runs"
claimed = (
    0
    if missing
    else speed(
        matmul_ikj_kernel,
        matmul_ijk_kernel,
        draw_square,
        writes=2,
        inner=192,
        points=1,
        full=2,
        hint=runs,
    )
)
points(claimed, missing)


# %% nbgrader={"grade": true, "grade_id": "matmul_ikj-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b = ramp(3, 2), ramp(2, 4, seed=1)
wanted = matmul_spec(a, b)
got = expect_written(matmul_ikj_kernel.py_func, a, b, np.full((3, 4), 7, np.float32), place=2)
expect_close(got, wanted, inner=3, scale=50, hint="right values first")
points(
    speed(
        matmul_ikj_kernel,
        matmul_ijk_kernel,
        draw_square,
        writes=2,
        inner=192,
        points=2,
        full={"avx512": 4.5, "avx2": 4.5, "generic": 3},
        half=2,
        hint="j is the innermost loop, and its factor is read before it",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

print("size        i, j, p      i, p, j     ratio")
seen = {}
for size in (64, 128, 256):
    a, b = ramp(size, size), ramp(size, size, seed=1)
    try:
        matmul_ikj(a, b)
    except NotImplementedError:
        print("left out: not written yet")
        break
    both = [
        2 * size**3 / time_call(f, a, b, repeats=3).median / 1e9 for f in (matmul_ijk, matmul_ikj)
    ]
    seen[size] = both
    print(f"{size:4}{both[0]:13.2f}{both[1]:13.2f}{both[1] / both[0]:10.1f}    GFLOP/s")
else:
    asm = "\n".join(matmul_ikj_kernel.inspect_asm().values())
    hot = max(inner_loops(asm), key=lambda loop: (loop.bits, loop.multiplies))
    print("\nThe innermost loop, as the machine runs it (> marks packed multiplications):")
    for line in hot.lines:
        mark = ">" if re.match(r"v?fn?madd|v?mulp|fml|fmul", line) else " "
        print(f"  {mark} {' '.join(line.split())}")
    print(f"{hot.multiplies} packed multiplications a turn, {hot.bits // 32} float32 in each.")

# %% [markdown]
"""
For a small product the gain is smaller: all of `b` lies in the first cache, and a jump costs little. Read the loop above aloud: load a piece of `c`, multiply a piece of `b` with the factor and add, store the piece of `c`. Two loads and a store for every multiplication. Exercise 3 is about that.
"""

# %% [markdown]
"""
## Exercise 2: An index that might be negative

In Python `y[-1]` is the last element, and Numba keeps that rule: where it cannot prove that an index is at least 0, it adds `n` to negative ones. `for i in range(n)` counts from 0, so nothing has to be checked. But in

    for i in range(start, stop):
        y[i] += alpha * x[i]

`start` might be negative. The check is cheap by itself; what it costs is the vector instructions, since elements `i` and `i + 1` may now lie anywhere.

The cure is a habit for all kernels to come: *slice first*, once and before the loop, *then count from 0*. A slice handles the sign once, and its loop runs over `len(slice)`. A slice in compiled code is a view: three numbers, nothing is copied.

`y[start:stop] += alpha * x[start:stop]` is one line and also right. Numba makes an array for its right side first. The second test cell counts such hidden arrays.

**Predict.** How many times as fast is the sliced loop, for rows of 4,096 float32?
"""


# %%
def axpy_spec(y, x, alpha, start, stop):
    """What y becomes, in Python floats."""
    result = [float(v) for v in y]
    for place in range(len(result))[start:stop]:
        result[place] += float(alpha) * float(x[place])
    return np.array(result, y.dtype)


# %%
# Given: the form to beat. It is compiled with the same flags as yours.
@kernel
def axpy_index_chain(y, x, alphas, start, stop):
    """y[start:stop] += alphas[p] * x[p, start:stop] for each p; rows of x are taken in turn."""
    for p in range(len(alphas)):
        row = x[p % len(x)]
        alpha = alphas[p]
        for i in range(start, stop):
            y[i] += alpha * row[i]


def draw_rows(rng):
    y, x = rng.standard_normal(4096), rng.standard_normal((4, 4096))
    alphas = rng.standard_normal(192)
    return *(drawn.astype(np.float32) for drawn in (y, x, alphas)), 1, 4095


# %% nbgrader={"grade": false, "grade_id": "axpy_range", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
#| writes: y
@kernel
def axpy_range(y, x, alpha, start, stop):
    """Add a multiple of one piece of x to the same piece of y, in place.

        y[start:stop] += alpha * x[start:stop]

    y, x        : (n,) C-contiguous, of one dtype; only y is changed
    alpha       : a number of that dtype
    start, stop : int, 0 <= start <= stop <= n
    allocates nothing
    """
    # Hint: two slices, then one loop that counts from 0. About 4 lines.
    ### BEGIN SOLUTION
    target = y[start:stop]
    source = x[start:stop]
    for i in range(len(target)):
        target[i] += alpha * source[i]
    ### END SOLUTION


@kernel
def axpy_chain(y, x, alphas, start, stop):
    """y[start:stop] += alphas[p] * x[p, start:stop] for each p; rows of x are taken in turn.

    y : (n,), x : (r, n), alphas : any number of factors
    """
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)


# %% nbgrader={"grade": true, "grade_id": "axpy_range-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in python_and_compiled(axpy_range):
    for n, start, stop in ((5, 0, 5), (7, 2, 6), (40, 3, 37), (4, 2, 2)):
        y, x, alpha = ramp(n, seed=1), ramp(n), np.float32(-1.5)
        wanted = axpy_spec(y, x, alpha, start, stop)
        whole = axpy_spec(y, x, alpha, 0, n)
        shifted = axpy_spec(y, np.roll(x, start), alpha, start, stop)
        same, bare = y.copy(), y.copy()
        bare[start:stop] = 0
        bare = axpy_spec(bare, x, alpha, start, stop)
        got = expect_written(run, y, x, alpha, start, stop, place=0)
        causes = {
            "y was not changed: the loop writes into a copy, or into nothing": lambda: same,
            "the piece was replaced: += and not =": lambda: bare,
            "the whole of y was changed, not only the piece": lambda: whole,
            "x is read from its beginning: slice it like y": lambda: shifted,
        }
        hint = "both slices are [start:stop]; the loop counts from 0 to their length"
        case = f"{how}, n={n}, start={start}, stop={stop}"
        expect_close(got, wanted, inner=2, scale=8, likely=causes, hint=hint, case=case)
y, x, alphas = ramp(20, seed=1), ramp(2, 20), np.array([1, -2, 0.5], np.float32)
wanted = y.copy()
for p, alpha in enumerate(alphas):
    wanted = axpy_spec(wanted, x[p % 2], alpha, 1, 19)
got = expect_written(axpy_chain, y, x, alphas, 1, 19, place=0)
expect_close(got, wanted, inner=4, scale=16, hint="the function around it stays as it is")

# %% nbgrader={"grade": true, "grade_id": "axpy_range-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("axpy_range-hidden").standard_normal
for run in (axpy_range.py_func, axpy_range):
    for n, start, stop in ((1, 0, 1), (1, 1, 1), (0, 0, 0), (9, 0, 4), (9, 8, 9), (133, 5, 131)):
        y, x, alpha = (normal(size).astype(np.float32) for size in (n, n, 1))
        wanted = axpy_spec(y, x, alpha[0], start, stop)
        got = expect_written(run, y, x, alpha[0], start, stop, place=0)
        hint = "any piece, also an empty one; y outside of it stays"
        expect_close(got, wanted, inner=2, scale=8, allow_empty=True, hint=hint)
y, x = normal(12), normal(12)
wanted = axpy_spec(y, x, 0.25, 1, 11)
got = expect_written(axpy_range, y, x, 0.25, 1, 11, place=0)
expect_close(got, wanted, inner=2, scale=8, hint="float64 too")
y, x = np.array([1, 2, 3], np.float32), np.array([nan, inf, 1], np.float32)
wanted = np.array([nan, inf, 3], np.float32)
got = expect_written(axpy_range, y, x, np.float32(2), 0, 2, place=0)
expect_equal(got, wanted, hint="NaN and infinity follow the arithmetic")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "axpy_range-vectors", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
y, x, alpha = ramp(64, seed=1), ramp(64), np.float32(3)
wanted = axpy_spec(y, x, alpha, 2, 62)
made = claim("allocations", axpy_range, y, x, alpha, 2, 62)
asm = claim("assembly", axpy_range, y, x, alpha, 2, 62)
got = expect_written(axpy_range, y, x, alpha, 2, 62, place=0)
expect_close(got, wanted, inner=2, scale=16, hint="right values first")
missing = None
if made > 0:
    missing = f"arrays allocated in one call: {made}. Loop over the elements, make no array of them"
elif not any(loop.multiplies for loop in inner_loops(asm)):
    missing = (
        "no packed multiplication: negative indices wrap around, so neither a loop over "
        "range(start, stop) nor y[start + i] is vectorised. Slice first, then count from 0"
    )
elif not any(loop.multiplies and not loop.doubles for loop in inner_loops(asm)):
    missing = "packed float64 arithmetic on float32 data: a constant such as 2.0 makes it float64"
runs = "the packed loop in the assembly is not the one that runs"
claimed = (
    0
    if missing
    else speed(
        axpy_chain, axpy_index_chain, draw_rows, writes=0, inner=192, points=1, full=1.5, hint=runs
    )
)
points(claimed, missing)


# %% nbgrader={"grade": true, "grade_id": "axpy_range-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
y, x, alpha = ramp(7, seed=1), ramp(7), np.float32(-1.5)
wanted = axpy_spec(y, x, alpha, 2, 6)
got = expect_written(axpy_range.py_func, y, x, alpha, 2, 6, place=0)
expect_close(got, wanted, inner=2, scale=8, hint="right values first")
x, y, alphas = np.ones((1, 5), np.float32), np.ones(5, np.float32), np.float32([1e30, -1e30])
wanted = np.array([1, 0, 0, 0, 1], np.float32)  # 1 is lost in 1e30; the factors add up to 0
got = expect_written(axpy_chain, y, x, alphas, 1, 4, place=0)
hint = "axpy_chain stays as it is: one axpy_range for each factor, in their order"
expect_equal(got, wanted, hint=hint)

points(
    speed(
        axpy_chain,
        axpy_index_chain,
        draw_rows,
        writes=0,
        inner=192,
        points=2,
        full=2.5,
        half=1.2,
        hint="slice first, then count from 0: negative indices wrap, and cost the vectors",
    )
)

# %% [markdown]
"""
**Which habit costs what?** The next cell compiles one loop with one thing changed at a time: a flag, an index, a constant. The loops are a sum of products (a *reduction*), a division of one array by another, and the loop of this exercise.

**Predict.** Put a number before each line before you run it: 1 for "no difference", 2, 8, or less than 1.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, measure


def total_of_products(x, y, out):
    total = x.dtype.type(0)
    for i in range(len(x)):
        total += x[i] * y[i]
    out[0] = total


def quotients(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] / y[i]


def scaled(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] + np.float32(2) * y[i]


def scaled_by_float64(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] + 2.0 * y[i]


def scaled_from(x, y, out):
    first = len(x) - len(y)
    for i in range(first, len(x)):
        out[i] = x[i] + np.float32(2) * y[i]


flags = dict(error_model="numpy", fastmath={"reassoc", "contract"})
habits = [
    ("sum of products: without fastmath", total_of_products, dict(flags, fastmath=False)),
    ("sum of products: our flags", total_of_products, flags),
    ("division: Python's error model", quotients, dict(flags, error_model="python")),
    ("division: our flags", quotients, flags),
    ("x + 2*y: with boundscheck", scaled, dict(flags, boundscheck=True)),
    ("x + 2*y: index from a variable", scaled_from, flags),
    ("x + 2*y: constant 2.0", scaled_by_float64, flags),
    ("x + 2*y: our flags", scaled, flags),
]
x, y, out = ramp(8192) + 8, ramp(8192, seed=2) + 8, np.zeros(8192, np.float32)


def into_out(compiled):
    """The kernel as a function of x and y; what it writes into is not measured."""
    return lambda x, y: compiled(x, y, out)


rungs = [Rung(name, into_out(njit(**options)(loop)), args=(x, y)) for name, loop, options in habits]
seconds = {m.rung.name: m.seconds for m in measure(rungs)}
for name, _, _ in habits:
    best = name.partition(":")[0] + ": our flags"
    print(
        f"{name:36}{seconds[name] * 1e6:9.2f} us{seconds[name] / seconds[best]:8.1f} times the best"
    )

# %% [markdown]
"""
Three of these are about *flags*, the others are about what you write. What `boundscheck=True` costs differs from loop to loop and may be nothing, see its line; while you look for a mistake it is worth its price.
"""

# %% [markdown]
"""
## Exercise 3: Sixteen numbers in registers

`matmul_ikj` loads a piece of `c` and a piece of `b` for every multiplication, and stores the piece of `c` again. The processor could do two multiplications in the time of that store. So let every load do more work: take *four* rows of `c` and *four* rows of `b` at once. Sixteen numbers of `a` say how much of which row of `b` goes to which row of `c`. They stay in registers for the whole row:

<img alt="A board of four by four squares, each one a number of a, a00 to a33. Four arrows come in from above, one for each row of b. Four arrows go out to the right, one for each row of c: each collects the four squares of its row." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='560' height='270' viewBox='0 0 560 270' font-family='sans-serif' font-size='14'><title>Four rows of b feed four rows of c</title>
<path d='M200 70h176v160h-176z' fill='rgb(86,180,233)'/><path d='M200 110h176M200 150h176M200 190h176M244 70v160M288 70v160M332 70v160M200 70h176v160h-176z' fill='none' stroke='rgb(125,125,125)'/>
<g text-anchor='middle' fill='black'><text x='222' y='95'>a00</text><text x='266' y='95'>a01</text><text x='310' y='95'>a02</text><text x='354' y='95'>a03</text><text x='222' y='135'>a10</text><text x='266' y='135'>a11</text><text x='310' y='135'>a12</text><text x='354' y='135'>a13</text><text x='222' y='175'>a20</text><text x='266' y='175'>a21</text><text x='310' y='175'>a22</text><text x='354' y='175'>a23</text><text x='222' y='215'>a30</text><text x='266' y='215'>a31</text><text x='310' y='215'>a32</text><text x='354' y='215'>a33</text></g>
<g stroke='rgb(230,159,0)' stroke-width='3' fill='none'><path d='M222 36v28m-5 -8l5 8l5 -8M266 36v28m-5 -8l5 8l5 -8M310 36v28m-5 -8l5 8l5 -8M354 36v28m-5 -8l5 8l5 -8'/></g>
<g stroke='rgb(0,158,115)' stroke-width='3' fill='none'><path d='M382 90h40m-8 -5l8 5l-8 5M382 130h40m-8 -5l8 5l-8 5M382 170h40m-8 -5l8 5l-8 5M382 210h40m-8 -5l8 5l-8 5'/></g>
<g fill='rgb(125,125,125)'><text x='190' y='24'>b[p] .. b[p+3], position j</text><text x='430' y='95'>c[i, j]</text><text x='430' y='135'>c[i+1, j]</text><text x='430' y='175'>c[i+2, j]</text><text x='430' y='215'>c[i+3, j]</text><text x='10' y='150'>16 registers, the</text><text x='10' y='170'>same for every j</text><text x='10' y='260'>per position: 4 loads of b, 4 of c, 4 stores, 16 multiplications</text></g>
</svg>">

For each position `j`: four loads of `b`, four of `c`, four stores, and *sixteen* multiplications. In `matmul_ikj` sixteen multiplications cost 32 loads and 16 stores.

Your kernel does one such *tile*: it adds to rows `i` to `i + 3` of `c`. Inside it:

1. four slices of `c`, `c[i, j0:j1]` and so on, taken once, outside of all loops (`c[i, j0:]` does as well, as the loop over `j` has `j1 - j0` turns);
2. a loop over `p` in steps of 4; in it sixteen names for sixteen numbers of `a`, and four slices of `b`;
3. one loop over `j`, counting from 0, with four updates of four products each;
4. what is left when `p1 - p0` is no multiple of 4, by `tile_1x1`, which is given.

The names are no vanity. Written as `a[i, p] * b0[j]` inside the loop over `j`, each number of `a` would be loaded again in every turn: `c` might overlap `a`, for all the compiler knows.

**Where the tile gets its data.** The driver below hands over a *panel*: some hundred columns of `b`, copied into rows that lie next to one another, and a panel of `c` to add to. Without that, rows of a large matrix lie a power of two apart and meet in the same few places of the cache, which module 04 showed.

**Predict.** A quarter of the loads, a quarter of the stores: how many times as fast as row by row for 256 x 256?
"""


# %%
#| export
# i: row; p0, p1: range of the inner index; j0, j1: range of columns
@kernel
def tile_1x1(a, b, c, i, p0, p1, j0, j1):
    """Add the products of row i of a with rows p0 to p1 of b to c[i, j0:j1]."""
    target = c[i, j0:j1]
    for p in range(p0, p1):
        factor, source = a[i, p], b[p, j0:j1]
        for j in range(len(target)):
            target[j] += factor * source[j]


# %%
# Given: the form to beat, the product row by row.
@kernel
def rows_kernel(a, b, c):
    c[:] = 0
    zero = np.int64(0)
    for i in range(len(c)):
        tile_1x1(a, b, c, i, zero, len(b), zero, c.shape[1])


def matmul_rows(a, b):
    """The product by tile_1x1 alone."""
    c = np.empty((len(a), b.shape[1]), a.dtype)
    rows_kernel(a, b, c)
    return c


def tile_spec(a, b, c, i, p0, p1, j0, j1):
    """What c becomes."""
    result = c.astype(float)
    part = a[i : i + 4, p0:p1].astype(float)[:, :, None] * b[p0:p1, j0:j1].astype(float)
    result[i : i + 4, j0:j1] += part.sum(axis=1)
    return result.astype(c.dtype)


# %% nbgrader={"grade": false, "grade_id": "tile_4x4", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, spec
#| writes: c
@kernel
def tile_4x4(a, b, c, i, p0, p1, j0, j1):
    """Add a product of four rows of a and some rows of b to four rows of c, in place.

        c[i + r, j0:j1] += a[i + r, p] * b[p, j0:j1]    for r in 0..3, p in p0..p1

    a, b, c : C-contiguous, of one dtype; only c is changed
    i       : first of the four rows of a and c
    p0, p1  : 0 <= p0 <= p1; p1 - p0 may be any number, also 0
    j0, j1  : columns of b and c; 0 <= j0 <= j1
    """
    # Hint: see the four steps above. p1 - (p1 - p0) % 4 is where the steps of 4 end. 18 lines
    #   where an update is one line.
    ### BEGIN SOLUTION
    c0, c1, c2, c3 = c[i, j0:], c[i + 1, j0:], c[i + 2, j0:], c[i + 3, j0:]
    end = p1 - (p1 - p0) % 4
    for p in range(p0, end, 4):
        a00, a01, a02, a03 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
        a10, a11, a12, a13 = a[i + 1, p], a[i + 1, p + 1], a[i + 1, p + 2], a[i + 1, p + 3]
        a20, a21, a22, a23 = a[i + 2, p], a[i + 2, p + 1], a[i + 2, p + 2], a[i + 2, p + 3]
        a30, a31, a32, a33 = a[i + 3, p], a[i + 3, p + 1], a[i + 3, p + 2], a[i + 3, p + 3]
        b0, b1, b2, b3 = b[p, j0:], b[p + 1, j0:], b[p + 2, j0:], b[p + 3, j0:]
        for j in range(j1 - j0):
            v0, v1, v2, v3 = b0[j], b1[j], b2[j], b3[j]
            c0[j] += a00 * v0 + a01 * v1 + a02 * v2 + a03 * v3
            c1[j] += a10 * v0 + a11 * v1 + a12 * v2 + a13 * v3
            c2[j] += a20 * v0 + a21 * v1 + a22 * v2 + a23 * v3
            c3[j] += a30 * v0 + a31 * v1 + a32 * v2 + a33 * v3
    for row in range(i, i + 4):
        tile_1x1(a, b, c, row, end, p1, j0, j1)
    ### END SOLUTION


# Columns of a panel, and elements between the ends of its rows: one cache line of float32.
PANEL, GAP = 512, 16


@kernel
def copy_columns(source, first, target, place, count):
    """Copy so many columns of a matrix, from `first` on, to those of another from `place` on."""
    for i in range(len(source)):
        old, new = source[i, first : first + count], target[i, place : place + count]
        for j in range(len(old)):
            new[j] = old[j]


@kernel
def matmul_registers_kernel(a, b, c):
    """c = a b, panel of columns by panel of columns, four rows at a time."""
    (m, n), k = c.shape, len(b)
    width = max(1, min(n, PANEL))
    right = np.empty((k, width + GAP), b.dtype)
    sums = np.empty((m, width + GAP), c.dtype)
    # Not the bare 0: for a literal Numba compiles what is called once more, for that number alone.
    zero = np.int64(0)
    for j in range(zero, n, width):
        count = min(n - j, width)
        copy_columns(b, j, right, zero, count)
        sums[:] = 0
        for i in range(0, m - m % 4, 4):
            tile_4x4(a, right, sums, i, zero, k, zero, count)
        for i in range(m - m % 4, m):
            tile_1x1(a, right, sums, i, zero, k, zero, count)
        copy_columns(sums, zero, c, j, count)


def matmul_registers(a, b, out=None):
    """The product of two matrices in tiles of 4 x 4 numbers that stay in registers.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_registers(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return multiply(matmul_registers_kernel, a, b, out)


# %% nbgrader={"grade": true, "grade_id": "tile_4x4-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in as_python(tile_4x4):
    for i, p0, p1, j0, j1 in ((0, 0, 4, 0, 3), (1, 0, 8, 1, 6), (0, 2, 9, 0, 7), (2, 1, 3, 2, 5)):
        a, b, c = ramp(6, 10), ramp(10, 7, seed=1), ramp(6, 7, seed=2)
        wanted = tile_spec(a, b, c, i, p0, p1, j0, j1)
        short = tile_spec(a, b, c, i, p0, p1 - (p1 - p0) % 4, j0, j1)
        from_zero = tile_spec(a, b, c, i, 0, p1 - p0, j0, j1)
        end, cleared, kept = p1 - (p1 - p0) % 4, c.copy(), c.copy()
        cleared[i : i + 4, j0:j1] = 0
        kept[i : i + 4, j0:j1] *= end == p0
        assigned = tile_spec(a, b, kept, i, max(end - 4, p0), p1, j0, j1)
        emptied = tile_spec(a, b, cleared, i, p0, p1, j0, j1)
        early = tile_spec(a, b, c, i, end, p1, j0, j1)
        early = tile_spec(a, b, early, i, 0, -(-end // 4) * 4, j0, j1)
        again = tile_spec(a, b, short, i, p0, p1, j0, j1)
        one_row = short.copy()
        one_row[i] = wanted[i]
        got = expect_written(run, a, b, c, i, p0, p1, j0, j1, place=2)
        causes = {
            f"what is left after the steps of 4 is missing: p = {p1 - (p1 - p0) % 4} to {p1 - 1}": (
                lambda: short
            ),
            "what is left after the steps of 4 was added to the first row alone": lambda: one_row,
            "p counts from 0, not from p0": lambda: from_zero,
            "the steps of 4 begin at p0, not at 0": lambda: early,
            "what is left after the steps of 4 was added twice": lambda: 2 * wanted - short,
            "what is left begins where the steps of 4 end, not at p0": lambda: again,
            "c was cleared: the tile adds to what is there": lambda: emptied,
            "each step of 4 replaced what was there: += and not =": lambda: assigned,
        }
        bad = [r for r in range(6) if got.shape == wanted.shape and np.any(got[r] != wanted[r])]
        hint = "each row of c collects four products; the rest of c stays as it was"
        if bad:
            hint = f"look at row {bad[0]} of c, which is i + {bad[0] - i}, and at its four factors"
            outside = [*range(j0), *range(j1, got.shape[1])]
            if np.any(got[:, outside] != wanted[:, outside]):
                hint = f"columns outside of j0:j1 changed: the tile has {j1 - j0} columns"
        case = f"{how}, i={i}, p0={p0}, p1={p1}, j0={j0}, j1={j1}"
        expect_close(got, wanted, inner=10, scale=160, likely=causes, hint=hint, case=case)

# %% nbgrader={"grade": true, "grade_id": "tile_4x4-compiled", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in python_and_compiled(tile_4x4):
    for place in ((0, 0, 4, 0, 3), (1, 2, 9, 1, 37)):
        a, b, c = ramp(6, 10), ramp(10, 40, seed=1), ramp(6, 40, seed=2)
        wanted = tile_spec(a, b, c, *place)
        got = expect_written(run, a, b, c, *place, place=2)
        hint = "first make the test above pass, which runs the tile as plain Python"
        expect_close(got, wanted, inner=10, scale=160, hint=hint, case=f"{how}, {place}")
a, b = ramp(9, 6), ramp(6, 5, seed=1)
scale = matmul_scale(a, b)
wanted = matmul_spec(a, b)
got = expect_unchanged(matmul_registers, a, b)
expect_close(
    got, wanted, inner=6, scale=scale, hint="the driver adds whole tiles: see the tests above"
)

# %% nbgrader={"grade": true, "grade_id": "tile_4x4-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("tile_4x4-hidden").standard_normal
cases = ((0, 0, 0, 0, 4), (0, 0, 1, 0, 1), (1, 3, 6, 0, 9), (3, 0, 13, 2, 20), (0, 5, 13, 4, 4))
for run in (tile_4x4.py_func, tile_4x4):
    for i, p0, p1, j0, j1 in cases:
        a, b, c = (normal(s).astype(np.float32) for s in ((8, 13), (13, 21), (8, 21)))
        wanted = tile_spec(a, b, c, i, p0, p1, j0, j1)
        got = expect_written(run, a, b, c, i, p0, p1, j0, j1, place=2)
        hint = "any i, p0, p1, j0, j1; nothing outside of the tile changes"
        expect_close(got, wanted, inner=13, scale=30, hint=hint)
a, b, c = normal((5, 6)), normal((6, 7)), normal((5, 7))
wanted = tile_spec(a, b, c, 1, 0, 6, 0, 7)
got = expect_written(tile_4x4.py_func, a, b, c, 1, 0, 6, 0, 7, place=2)
expect_close(got, wanted, inner=6, scale=30, hint="float64 too")
for m, k, n in ((1, 1, 1), (4, 4, 4), (5, 7, 3), (3, 9, 2), (0, 3, 2), (2, 0, 3), (8, 6, 515)):
    a, b = normal((m, k)).astype(np.float32), normal((k, n)).astype(np.float32)
    scale = matmul_scale(a, b)
    wanted = matmul_spec(a, b)
    got = expect_fresh(matmul_registers, a, b)
    expect_close(got, wanted, inner=k, scale=scale, allow_empty=True, hint="the product, any size")
left, right = normal((6, 7)).astype(np.float32), normal((7, 5)).astype(np.float32)
scale = matmul_scale(left, right)
wanted = matmul_spec(left, right)
for (name, a), (_, b) in zip(layouts(left), layouts(right)):
    got = matmul_registers(a, b)
    expect_close(got, wanted, inner=7, scale=scale, hint=f"a and b may each be {name}")
### END HIDDEN TESTS


# %% nbgrader={"grade": true, "grade_id": "tile_4x4-speed", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b, c = ramp(7, 10), ramp(10, 5, seed=1), ramp(7, 5, seed=2)
wanted = tile_spec(a, b, c, 1, 1, 10, 1, 4)
got = expect_written(tile_4x4.py_func, a, b, c, 1, 1, 10, 1, 4, place=2)
expect_close(got, wanted, inner=10, scale=160, hint="right values first")


def draw_matrices(rng):
    return tuple(rng.standard_normal((256, 256), dtype=np.float32) for _ in range(3))


points(
    speed(
        matmul_registers_kernel,
        rows_kernel,
        draw_matrices,
        writes=2,
        inner=256,
        points=3,
        full={"avx512": 1.25, "avx2": 1.25},
        half=1.1,
        hint="the loop over j stands in the tile itself and holds all four updates; the sixteen "
        "numbers of a have names; slices are taken outside of the loop over j",
    )
)


# %% nbgrader={"grade": true, "grade_id": "tile_4x4-speed-shapes", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b, c = ramp(7, 10), ramp(10, 5, seed=1), ramp(7, 5, seed=2)
wanted = tile_spec(a, b, c, 1, 1, 10, 1, 4)
got = expect_written(tile_4x4.py_func, a, b, c, 1, 1, 10, 1, 4, place=2)
expect_close(got, wanted, inner=10, scale=160, hint="right values first")


def draw_other_sizes(rng):
    shapes = ((320, 384), (384, 448), (320, 448))
    return tuple(rng.standard_normal(shape, dtype=np.float32) for shape in shapes)


points(
    speed(
        matmul_registers_kernel,
        rows_kernel,
        draw_other_sizes,
        writes=2,
        inner=384,
        points=2,
        full={"avx512": 1.25, "avx2": 1.25},
        half=1.1,
        hint="also for matrices that are not square",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, measure

print("GFLOP/s by size      row by row   i, p, j   4 x 4 tiles   tiles / i, p, j")
sizes, lines = (96, 256, 512), {}
for size in sizes:
    a, b = ramp(size, size), ramp(size, size, seed=1)
    want = a @ b
    check = partial(expect_close, want=want, inner=size, scale=20 * size)
    rungs = [
        Rung(name, func, args=(a, b), check=check, flops=2 * size**3)
        for name, func in (
            ("row by row", matmul_rows),
            ("i, p, j", matmul_ikj),
            ("4 x 4 tiles", matmul_registers),
        )
    ]
    found = {m.rung.name: m for m in measure(rungs, rounds=5)}
    left_out = [m for m in found.values() if m.left_out]
    if left_out:
        print("\n".join(f"{m.rung.name} is left out: {m.left_out}" for m in left_out))
        break
    rate = {name: 2 * size**3 / m.seconds / 1e9 for name, m in found.items()}
    for name, value in rate.items():
        lines.setdefault(name, []).append(value)
    times = rate["4 x 4 tiles"] / rate["i, p, j"]
    cells = rate["row by row"], rate["i, p, j"], rate["4 x 4 tiles"], times
    print("{:4}{:26.1f}{:10.1f}{:14.1f}{:17.2f}".format(size, *cells))
else:
    plots = new_plots("What sixteen registers buy", ("size", "GFLOP/s"))
    for axes in plots:
        for (name, values), colour, mark in zip(lines.items(), (RED, ORANGE, BLUE), "so^"):
            axes.plot(sizes, values, color=colour, marker=mark, label=name)
        axes.set_ylim(bottom=0)
        axes.legend(loc="lower right", labelcolor="0.5", facecolor="none", edgecolor="0.5")
        show_plots(plots, "GFLOP/s against size, a line for each of the three kernels")

# %% [markdown]
"""
*(Plot: rate against size for three kernels; the tiles lie highest. The numbers stand above it.)*

Why four by four, and not eight by eight? Sixteen numbers of `a`, four of `b` and four of `c` make 24 registers; with AVX-512 and on ARM there are 32. With AVX2 there are 16, so some numbers of `a` are parked in memory, in the first cache, and four by four pays still. Eight by eight would make 64 and 16 more, too many for any of them, and what was won is lost: module 08 measures that edge.

A surprise that is not in the plot: cutting the matrices into blocks for the cache, as module 05 does, *without* the registers, makes `i, p, j` slower at these sizes. Its inner loops get shorter, and nothing was waiting for memory.
"""

# %% [markdown]
r"""
## Exercise 4: An exponential that vectorises

Softmax needs `exp`, and `math.exp` inside a kernel is a *call*: of a function in the C library that takes one number. LLVM can vectorise everything around it, then it takes the vectors apart, calls 16 times, and puts them together again. So we write our own, out of things that vectorise: multiplication, addition, rounding, and a trick with bits.

$$ e^x = 2^n \, e^r \qquad n = \lfloor x \log_2 e + \tfrac12 \rfloor \qquad r = x - n \ln 2 $$

`r` lies between -0.347 and 0.347, where a polynomial of degree 5 is as good as float32 is:

$$ e^r \approx 1 + r + c_2 r^2 + c_3 r^3 + c_4 r^4 + c_5 r^5 $$

*Horner's rule* evaluates it with one multiply-add a step: start with $c_5$, then five times "times `r`, plus the next coefficient". Down to $r^2$ these are given, the last two are 1.

And $2^n$ costs nothing: the exponent of a float32 stands in its bits 23 to 30, with 127 added. `power_of_two` puts it there.

**Digits.** Round down by `np.floor`: `math.floor` makes an int, and of NaN, in plain Python, an error. `n` goes up to 128, and `n * ln 2` rounded to float32 is off by up to 4e-6: too much. So `ln 2` comes in two pieces. `LN2_HIGH` has so few bits that `n * LN2_HIGH` is exact, `LN2_LOW` is the rest. Take off one after the other.

**Edges.** Beyond `LOWEST` and `HIGHEST` the exponent would run out of its 8 bits. Clamp first: `min(max(x, LOWEST), HIGHEST)`. There `2**n` is 0 and infinity by itself, and `exp(-inf)` is 0 exactly, which the next exercise will need. In this order `max(x, LOWEST)` gives NaN for NaN; try what `max(LOWEST, x)` does.

**Predict.** How many times as fast as a loop over `math.exp`? And as `np.exp`, which has a vector version of its own?
"""

# %%
#| export
LOG2_E = np.float32(1.4426950408889634)
# ln 2 in two pieces: the product of the first with a whole number up to 128 is exact.
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.1219444e-4)
# exp(r) = 1 + r + C2 r^2 + ... + C5 r^5 for |r| <= ln(2)/2, relative error below 1.1e-7: the
# minimax polynomial of that form (Remez' exchange), rounded to float32.
C2, C3 = np.float32(0.49999231), np.float32(0.16667115)
C4, C5 = np.float32(0.041890157), np.float32(0.0083125202)
HALF, ONE = np.float32(0.5), np.float32(1)
# Beyond these, 2**n is 0 and infinity.
LOWEST, HIGHEST = np.float32(-88), np.float32(89)


@kernel
def power_of_two(n):
    """2**n as float32, made of its bits: 0 for n = -127, infinity for n = 128.

    n : a whole number from -127 to 128, also as float32
    """
    return np.int32((np.int32(n) + 127) << 23).view(np.float32)


# %%
# Given: the form to beat, a specification, and typical mistakes for messages and plots.
@kernel
def exp_call_kernel(x, y):
    for i in range(len(x)):
        y[i] = math.exp(x[i])


def exp_by_calls(x):
    """exp by a call of the C library's function for each element."""
    y = np.empty_like(x)
    exp_call_kernel(x, y)
    return y


def exp_spec(x):
    """exp in Python floats."""
    return [math.exp(float(v)) if float(v) < 700 else inf for v in x]


def below(value):
    """What floor gives where HALF was not added."""
    return math.floor(value - 0.5)


def exp_of(x, pieces=(0.693359375, -2.1219444e-4), whole=math.floor, factor=1.0):
    """exp as above, right or wrong."""
    n = np.float32(whole(float(x) * 1.4426950408889634 + 0.5))
    r = np.float32(x)
    for piece in pieces:
        r = np.float32(r - n * np.float32(piece))
    r = factor * float(r)
    series = sum(float(c) * r**power for power, c in enumerate((1, 1, C2, C3, C4, C5)))
    return series * 2.0 ** float(n)


# %% nbgrader={"grade": false, "grade_id": "exp_poly", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
#| writes: y
@kernel
def exp_poly(x):
    """exp of one number, without a call that would hold up the loop around it.

    x : float32
    returns float32: from -87.3 to 88.3 with a relative error of at most 3e-7; 0 from -87.7 down,
        -inf too; inf from 88.4 up; NaN for NaN
    S. L. Moshier, Cephes Mathematical Library (expf): the reduction by ln 2 in two pieces.
    """
    # Hint: clamp, n, r, Horner's rule, times power_of_two(n). np.floor works on one number. About
    #   9 lines.
    ### BEGIN SOLUTION
    x = min(max(x, LOWEST), HIGHEST)
    n = np.floor(x * LOG2_E + HALF)
    r = x - n * LN2_HIGH - n * LN2_LOW
    result = C5 * r + C4
    result = result * r + C3
    result = result * r + C2
    result = result * r + ONE
    result = result * r + ONE
    return result * power_of_two(n)
    ### END SOLUTION


@kernel
def exp_kernel(x, y):
    """exp of each element of x, written into y of the same size."""
    edge = up_to_line(y)
    for start, stop in ((0, edge), (edge, len(y))):
        source, target = x[start:stop], y[start:stop]
        for i in range(len(target)):
            target[i] = exp_poly(source[i])


def exp_fused(x, out=None):
    """exp of every element, by exp_poly.

    x   : float32, one axis or more, any stride; not modified
    out : an array of x's shape and dtype, or None for a new one
    returns out; accuracy and edges as exp_poly
    raises TypeError and ValueError as check_float_array and check_out, TypeError also for float64

    >>> exp_fused(np.array([0.0, -np.inf], np.float32))
    array([1., 0.], dtype=float32)
    """
    out = place_for(x, out, dtype=np.float32)
    y = compiled_form(out)
    exp_kernel(compiled_form(x).ravel(), y.ravel())
    return settled(y, out)


# %% nbgrader={"grade": true, "grade_id": "exp_poly-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in python_and_compiled(exp_poly):
    for value in (0.0, 1.0, -1.0, 0.3, -0.4, 10.5, -20.25, 80.0, -87.0, 88.0):
        x = np.float32(value)
        wanted = math.exp(value)
        returned = run(x)
        check_number(how, returned)
        got = float(returned)
        error = abs(got / wanted - 1)
        if not error <= 3e-7:
            causes = {
                "HALF is missing: n is the whole number nearest to x / ln 2": exp_of(x, whole=below),
                "ln 2 in one piece: its error grows with |x|": exp_of(x, [0.69314718]),
                "int() cuts towards 0: floor is another thing for negative x": exp_of(x, whole=int),
                "r is not subtracted, or with the wrong sign": exp_of(x, factor=-1.0),
                "2**n is missing": exp_of(x) / 2.0 ** math.floor(value * 1.442695 + 0.5),
            }
            away = {cause: abs(got / w - 1) for cause, w in causes.items()}
            nearest = min(away, key=away.get)
            likely = f"\n  likely    {nearest}" if away[nearest] < 1e-6 else ""
            raise CheckFailed(
                f"{how}, x={value}: a relative error of {error:.2g}, at most 3e-7 is allowed\n"
                f"  got       {got!r}\n  expected  {wanted!r}{likely}\n"
                "  try       n, then r, then Horner's rule from C5 down, each step with r"
            )
low, high, none = (np.float32(v) for v in (-inf, inf, nan))
for how, run in python_and_compiled(exp_poly):
    for x, wanted, hint in (
        (low, 0.0, "exp(-inf) is 0: clamp to LOWEST first, and take power_of_two(n)"),
        (high, inf, "exp(inf) is inf: clamp to HIGHEST first, and take power_of_two(n)"),
        (none, nan, "NaN stays NaN: max(x, LOWEST) keeps it, max(LOWEST, x) loses it"),
    ):
        returned = run(x)
        check_number(how, returned)
        got = float(returned)
        expect_equal((run, got)[1], wanted, hint=hint, case=f"{how}, x={x}")
x = np.linspace(-87, 88, 40, dtype=np.float32)
got = expect_unchanged(exp_fused, x)
hint = "float32 in, float32 out: the constants above have that dtype"
expect_equal(got.dtype.name, "float32", hint=hint)

# %% nbgrader={"grade": true, "grade_id": "exp_poly-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
uniform = rng("exp_poly-hidden").uniform
for x in uniform(-87, 88, 60).astype(np.float32):
    got = float(exp_poly.py_func(x))
    close = abs(got / math.exp(float(x)) - 1) <= 3e-7
    expect_equal((got, close)[1], True, hint="right to 3e-7 as plain Python, for any x")
x = uniform(-87, 88, 2048).astype(np.float32)
x[:4] = -87.3, 88.3, 0.0, -0.0
wanted = np.array(exp_spec(x))
got = exp_fused(x)
expect_equal((got, got.dtype.name)[1], "float32", hint="float32 in, float32 out")
expect_equal((got, got.shape)[1], x.shape, hint="as many results as elements")
worst = float(np.max(np.abs(got.astype(float) / wanted - 1)))
hint = "the relative error is too large somewhere between -87.3 and 88.3"
expect_equal((got, worst <= 3e-7)[1], True, hint=hint)
edges = np.array([-87.75, -88, -89, -100, -1e30, -inf, 88.45, 89, 90, 1e30, inf, nan], np.float32)
wanted = np.array([0.0] * 6 + [inf] * 5 + [nan], np.float32)
hint = "0 from -87.7 down, inf from 88.4 up, NaN for NaN"
expect_equal(exp_fused(edges), wanted, hint=hint)
expect_equal(float(exp_poly(np.float32(0))), 1.0, hint="exp(0) is 1 exactly")
### END HIDDEN TESTS


# %% nbgrader={"grade": true, "grade_id": "exp_poly-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
wanted = np.float32(math.exp(-10.3))
got = np.float32(exp_poly.py_func(np.float32(-10.3)))
expect_close(got, wanted, inner=8, scale=wanted, hint="right values first, see the test above")
x = np.linspace(-80, 80, 64, dtype=np.float32)
claim("signatures", exp_kernel, x, x.copy())  # fails where exp_kernel is not compiled: np.exp(x)


def draw_exponents(rng):
    x = 160 * rng.random(1 << 18, dtype=np.float32) - 80
    return x, x.copy()


points(
    speed(
        exp_kernel,
        exp_call_kernel,
        draw_exponents,
        writes=1,
        inner=4,
        points=2,
        full={"avx512": 3, "avx2": 3},
        half=1.2,
        hint="no call and no power: 2**n by power_of_two, and constants of float32",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, measure

x = np.random.default_rng(1).uniform(-80, 80, 1 << 17).astype(np.float32)
y = np.empty_like(x)
rungs = [
    Rung("math.exp in a kernel", exp_by_calls, args=(x,)),
    Rung("np.exp", np.exp, args=(x,), kwargs={"out": y}),
    Rung("exp_fused", exp_fused, args=(x,), kwargs={"out": y}),
]
found = {m.rung.name: m for m in measure(rungs)}
for name, m in found.items():
    rate = m.left_out or f"{x.size / m.seconds / 1e9:6.2f} results a nanosecond"
    print(f"{name:24}{rate}")
if not any(m.left_out for m in found.values()):
    mine = found["exp_fused"].seconds
    for name in ("math.exp in a kernel", "np.exp"):
        print(f"exp_fused is {found[name].seconds / mine:.1f} times as fast as {name}.")
    dense = np.linspace(-87, 88, 200_000, dtype=np.float32)
    exact = np.exp(dense.astype(float))
    error = exp_fused(dense) / exact - 1
    print(f"Largest relative error of {dense.size:,} values: {np.abs(error).max():.2g}")
    plots = new_plots(
        "Relative error of exp",
        ("x", "relative error, two pieces"),
        ("x", "relative error, one piece"),
    )
    n = np.floor(dense * np.float32(LOG2_E) + np.float32(0.5))
    r = dense - n * np.float32(0.69314718)
    one_piece = np.exp(r.astype(float)) * 2.0 ** n.astype(float) / exact - 1
    for axes, values, colour in zip(plots, (error, one_piece), (BLUE, ORANGE)):
        axes.plot(dense[::23], values[::23], ".", ms=1.5, color=colour, rasterized=True)
    if plots:
        show_plots(plots, "Error against x: a flat band with two pieces, a growing fan with one")

# %% [markdown]
"""
*(Two plots of the relative error against x. Left, with ln 2 in two pieces: a flat band. Right, with ln 2 in one piece: a fan that opens on both sides. Mind the axes: the right one goes much further.)*

## Exercise 5: Softmax that never leaves the cache

03's softmax makes five passes over its data, each one by a NumPy call. Here one row is done with before the next begins: its maximum, its powers with their sum, its scaling. The row lies in the first cache all the while, and memory is read once and written once.

The first version one writes looks like the naive kernel in the next cell, and it is *slower* than NumPy on most machines. Two things hold it up. One is `math.exp`, which you have replaced. The other is

    top = max(top, row[j])

a *chain*: each comparison waits for the one before. For sums the flag `reassoc` allows several chains at once; for `max` there is no such flag. So you write them: 64 running maxima, *lanes*, in a small array. Lane `q` sees the elements `q`, `q + 64`, `q + 128`, ...: the loop over the lanes has no chain in it and becomes vectors. At the end the lanes are compared with one another. `row_maximum` passes over NaN, so the order in `max` is the other one than in `exp_poly`: `max(lanes[q], piece[q])` keeps the lane where the piece holds NaN.

Take two pieces a turn: `max(max(lanes[q], piece[q]), other[q])`. After one comparison with what lies in memory, compilers for AVX-512 store only the lanes that changed, under a mask, and the next turn waits long for such a store; the result of two comparisons is stored whole. Of an odd number of pieces the last one may come twice: a maximum does not mind.

**The rule**, as everywhere: a row of only `-inf` gives zeros, a row with NaN or `+inf` is all NaN, other rows do not notice. Where the maximum is `-inf`, take 0 off instead: all powers are then 0 by your `exp_poly`. The sum of such a row is 0, and 1/0 must not be multiplied with. Think about a row of `-inf` and one NaN: which of these steps sees the NaN?

Divide once, then multiply: a division takes as long as many multiplications.

**Predict.** Order them: NumPy's plain spelling, 03's softmax, the naive kernel, yours.
"""


# %%
#| export
# Maxima that run side by side: four vectors of 16 numbers, or eight of 8.
LANES = 64

# Bands of rows, for threads: some for every core there may be, the same number everywhere.
BANDS = 32

# One launch at a time: where Numba has only its own threads (macOS), a second one ends Python.
one_launch = threading.Lock()


# %%
def softmax_spec(x):
    """Softmax of each row in float64: 1 over the sum of exp(other score - own score)."""
    weights = np.zeros(x.shape)
    for i, row in enumerate(x.astype(float)):
        if np.isnan(row).any() or (row == inf).any():
            weights[i] = nan
            continue
        seen = row > -inf
        with np.errstate(over="ignore"):
            weights[i, seen] = 1 / np.exp(row[seen] - row[seen][:, None]).sum(axis=1)
    return weights.astype(x.dtype)


def softmax_less(x, top):
    """Softmax with any maximum taken off, be it right or wrong."""
    with np.errstate(all="ignore"):
        powers = np.exp(x - top)
        return powers / powers.sum(axis=1, keepdims=True)


def softmax_plain(x):
    """Softmax along the last axis as one writes it first in NumPy."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@kernel
def softmax_naive_kernel(x, y):
    rows, columns = x.shape
    for i in range(rows):
        top = x[i, 0]
        for j in range(columns):
            top = max(top, x[i, j])
        total = x.dtype.type(0)
        for j in range(columns):
            power = math.exp(x[i, j] - top)
            total += power
            y[i, j] = power
        for j in range(columns):
            y[i, j] /= total


def softmax_naive(x):
    """Softmax of each row as one writes it first in a kernel."""
    y = np.empty_like(x)
    softmax_naive_kernel(x, y)
    return y


def draw_scores(rng):
    x = rng.standard_normal((128, 2048), dtype=np.float32)
    return x, x.copy()


# %% nbgrader={"grade": false, "grade_id": "softmax_fused", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
#| writes: y, lanes
@kernel
def row_maximum(row, lanes):
    """The largest element of a row, by LANES comparisons at a time.

    row   : (n,) float32, C-contiguous; NaN is passed over
    lanes : (LANES,) float32, room to work in
    returns -inf for n = 0
    """
    # Hint: lanes that start at -inf; pieces of LANES elements, sliced, two a turn; then the lanes
    #   and the rest one by one. About 12 lines.
    ### BEGIN SOLUTION
    lanes[:] = -np.inf
    end = len(row) - len(row) % LANES
    for j in range(0, end, 2 * LANES):
        k = min(j + LANES, end - LANES)
        piece, other = row[j : j + LANES], row[k : k + LANES]
        for q in range(LANES):
            lanes[q] = max(max(lanes[q], piece[q]), other[q])
    top = lanes[0]
    for q in range(LANES):
        top = max(top, lanes[q])
    rest = row[end:]
    for q in range(len(rest)):
        top = max(top, rest[q])
    return top
    ### END SOLUTION


# m, n: rows, columns
@kernel
def softmax_kernel(x, y):
    """Softmax of each row of x, written into y; row by row.

    x, y : (m, n) float32, C-contiguous; only y is changed
    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN.
    """
    # Hint: one array of lanes for all rows. In a row: the maximum; the powers and their sum in one
    #   loop; one division; one loop that scales. About 13 lines.
    ### BEGIN SOLUTION
    lanes, zero = np.empty(LANES, x.dtype), x.dtype.type(0)
    for i in range(len(x)):
        row, weights = x[i], y[i]
        top = row_maximum(row, lanes)
        if top == -np.inf:
            top = zero
        total = zero
        for j in range(len(row)):
            power = exp_poly(row[j] - top)
            weights[j] = power
            total += power
        scale = ONE / total if total != 0 else total
        for j in range(len(row)):
            weights[j] *= scale
    ### END SOLUTION


def softmax_fused(x, out=None):
    """Softmax along the last axis, one row after the other, each in the cache.

        y = exp(x - t) / sum of exp(x - t),  t = max of x, both along the last axis

    x   : float32 or float64, one axis or more, any stride; not modified
    out : an array of x's shape and dtype, or None for a new one
    returns out; float64 goes to 03's softmax, since exp_poly has the digits of float32
    raises TypeError and ValueError as check_float_array and check_out

    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN. No warning escapes.

    >>> softmax_fused(np.array([[0.0, 0.0], [1000.0, -np.inf]], np.float32))
    array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)
    """
    if getattr(x, "dtype", None) == np.float64:
        return vectorized.softmax(x, out=out)
    return by_rows(softmax_kernel, x, place_for(x, out))


# Given: bands of rows, shared out to threads. Exercise 7 tells how.
@parallel_kernel
def softmax_bands(x, y):
    """softmax_kernel on bands of rows, which threads share out."""
    for w in prange(BANDS):
        first, last = int(w) * len(x) // BANDS, (int(w) + 1) * len(x) // BANDS
        softmax_kernel(x[first:last], y[first:last])


def softmax_prange(x, out=None):
    """softmax_fused by all threads that Numba has: its arguments, its errors, its results.

    x   : float32 or float64, one axis or more, any stride; not modified
    out : an array of x's shape and dtype, or None for a new one
    returns out

    >>> softmax_prange(np.array([[0.0, 0.0], [1000.0, -np.inf]], np.float32))
    array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)
    """
    if getattr(x, "dtype", None) == np.float64:
        return vectorized.softmax(x, out=out)
    with one_launch:
        return by_rows(softmax_bands, x, place_for(x, out))


# %% nbgrader={"grade": true, "grade_id": "softmax_fused-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in as_python(row_maximum):

    def maximum_of(row):
        return run(row, np.zeros(64, np.float32))

    maximum_of.__name__ = "row_maximum"
    maximum = maximum_of  # messages have its own name, not that in this cell
    for n, place in ((5, 2), (64, 0), (64, 63), (130, 100), (130, 129), (70, 66)):
        row = ramp(n) - 10
        row[place] = -0.5
        returned = expect_unchanged(maximum, row)
        check_number(how, returned)
        got = float(returned)
        likely = {"0 is larger than all of them: the lanes start at -inf": lambda: 0.0}
        hint = "all pieces of 64, all lanes, and the elements behind the last piece"
        case = f"{how}, n={n}, the largest at {place}"
        expect_equal((run, got)[1], -0.5, likely=likely, hint=hint, case=case)
    for place, largest in ((3, 0), (70, 6), (133, 69), (3, 67)):
        row = np.full(135, -0.5, np.float32)
        row[[largest, place]] = 2, nan
        returned = expect_unchanged(maximum, row)
        check_number(how, returned)
        got = float(returned)
        hint = (
            "NaN is passed over: max(lanes[q], piece[q]) keeps the lane, the other order loses it"
        )
        expect_equal((run, got)[1], 2.0, hint=hint, case=f"{how}, n=135, NaN at {place}")
power = np.float32(exp_poly.py_func(np.float32(-1.5)))
wanted = np.float32(math.exp(-1.5))
hint = "the softmax below is made of exp_poly: exercise 4 comes first"
expect_close(power, wanted, inner=8, scale=1, hint=hint)
for how, run in as_python(softmax_kernel):
    for x in (ramp(3, 5), ramp(2, 67), np.array([[0, 1000, 999]], np.float32)):
        wanted = softmax_spec(x)
        over = softmax_less(x, 0)
        got = expect_written(run, x, np.full(x.shape, 7, np.float32), place=1)
        causes = {"the maximum was not taken off": lambda: over}
        hint = "maximum, powers and their sum, one division, scaling"
        case, inner = f"{how}, x {x.shape}", x.shape[1]
        expect_close(got, wanted, inner=inner, scale=4, likely=causes, hint=hint, case=case)

# %% nbgrader={"grade": true, "grade_id": "softmax_fused-compiled", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x = ramp(2, 5)
wanted = softmax_spec(x)
got = expect_written(softmax_kernel.py_func, x, np.full(x.shape, 7, np.float32), place=1)
expect_close(got, wanted, inner=5, scale=4, hint="first make the test above pass")
masked = [[-inf, 0, 1, 1], [-inf] * 4, [-inf, nan, -inf, -inf], [inf, 0, 1, 2], [2, 4, 1, 3]]
masked = np.array(masked, np.float32)
for x in (masked, np.array([[0, 1000, 999]], np.float32), ramp(2, 67)):
    wanted = softmax_spec(x)
    broken = softmax_less(x, x.max(axis=1, keepdims=True))
    hidden = np.where(np.isneginf(x).sum(axis=1, keepdims=True) > 2, 0, wanted)
    got = expect_written(softmax_kernel, x, np.full(x.shape, 7, np.float32), place=1)
    causes = {
        "a row of only -inf became NaN. The rule: zeros": lambda: broken,
        "a row of -inf and one NaN became zeros: the maximum does not see the NaN": lambda: hidden,
    }
    hint = "maximum, powers and their sum, one division, scaling; the rule for -inf and NaN"
    case = f"softmax_kernel compiled, x {x.shape}"
    inner = x.shape[1]
    expect_close(got, wanted, inner=inner, scale=4, likely=causes, hint=hint, case=case)
x = ramp(2, 9)
wanted = softmax_spec(x)
got = expect_unchanged(softmax_fused, x)
expect_close(got, wanted, inner=9, scale=4, hint="the function around the kernel stays as it is")

# %% nbgrader={"grade": true, "grade_id": "softmax_fused-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("softmax_fused-hidden").standard_normal
lanes = np.zeros(64, np.float32)
for run in (row_maximum.py_func, row_maximum):
    for n in (1, 15, 63, 65, 127, 192, 200):
        row = normal(n).astype(np.float32)
        wanted = float(row.max())
        got = float(run(row, np.zeros(64, np.float32)))
        expect_equal((run, got)[1], wanted, hint="row_maximum, any number of elements")
got = float(row_maximum(np.zeros(0, np.float32), lanes))
expect_equal((row_maximum, got)[1], -inf, hint="row_maximum of no element is -inf")
hint = "any number of rows and columns"
for m, n in ((1, 1), (2, 0), (0, 3), (3, 17), (1, 130)):
    x = (3 * normal((m, n))).astype(np.float32)
    wanted = softmax_spec(x)
    got = expect_written(softmax_kernel.py_func, x, np.full((m, n), nan, np.float32), place=1)
    expect_close(got, wanted, inner=n, scale=4, allow_empty=True, hint=hint)
for m, n in ((1, 1), (2, 0), (0, 3), (3, 15), (2, 17), (2, 64), (3, 129), (1, 513)):
    x = (3 * normal((m, n))).astype(np.float32)
    wanted = softmax_spec(x)
    got = expect_fresh(softmax_fused, x)
    expect_close(got, wanted, inner=n, scale=4, allow_empty=True, hint=f"{hint}, a new array")
for name, x in layouts(normal((4, 9)).astype(np.float32)):
    wanted = softmax_spec(x)
    got = expect_unchanged(softmax_fused, x)
    expect_close(got, wanted, inner=9, scale=4, hint=f"x may be {name}")
rows = np.full((8, 140), -1, np.float32)
rows[0, 70], rows[1, 139], rows[2, :], rows[3, :], rows[4, :] = nan, nan, -inf, -inf, 2e5
rows[3, 5], rows[5, 64], rows[6, :139], rows[7, :100] = nan, inf, -inf, -1e5
wanted = softmax_spec(rows)
hint = "the rule for -inf, +inf and NaN, row by row, wherever in the row they stand"
got = expect_written(softmax_kernel, rows, np.full(rows.shape, nan, np.float32), place=1)
expect_close(got, wanted, inner=140, scale=4, allow_nan=True, hint=hint)
x = normal((2, 3, 5))
wanted = softmax_spec(x.reshape(6, 5)).reshape(x.shape)
expect_close(softmax_fused(x), wanted, inner=5, scale=4, hint="float64, and three axes")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "softmax_fused-vectors", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x = ramp(3, 200)
wanted = softmax_spec(x)
y, row, lanes = np.zeros((3, 200), np.float32), ramp(200), np.zeros(64, np.float32)
got = expect_written(softmax_kernel.py_func, x, y.copy(), place=1)
expect_close(got, wanted, inner=200, scale=4, hint="right values first")
of_maximum = claim("assembly", row_maximum, row, lanes)
of_softmax = claim("assembly", softmax_kernel, x, y)
got = expect_written(softmax_kernel, x, y, place=1)
expect_close(got, wanted, inner=200, scale=4, hint="right values first")
missing = None
if re.search(r"\bexpf?\b", of_softmax):
    missing = "a scalar call of exp in the assembly: use exp_poly"
elif not all_code(of_maximum).compares:
    missing = "no packed comparison in row_maximum: one maximum is a chain, 64 lanes are not"
elif not any(loop.multiplies >= 8 for loop in inner_loops(of_softmax)):
    missing = "exp_poly is not vectorised in softmax_kernel: is there a branch in the loop?"
runs = "the packed loop in the assembly is not the one that runs"
claimed = (
    0
    if missing
    else speed(
        softmax_kernel,
        softmax_naive_kernel,
        draw_scores,
        writes=1,
        inner=2048,
        points=1,
        full={"avx512": 2, "avx2": 2},
        hint=runs,
    )
)
points(claimed, missing)


# %% nbgrader={"grade": true, "grade_id": "softmax_fused-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x = ramp(2, 5)
wanted = softmax_spec(x)
got = expect_written(softmax_kernel.py_func, x, np.full(x.shape, 7, np.float32), place=1)
expect_close(got, wanted, inner=5, scale=4, hint="right values first")
claim("signatures", softmax_kernel, x, x.copy())  # fails where softmax_kernel is not compiled
points(
    speed(
        softmax_kernel,
        softmax_naive_kernel,
        draw_scores,
        writes=1,
        inner=2048,
        points=2,
        full={"avx512": 2.2, "avx2": 1.7},
        half=1.3,
        hint="exp_poly for the powers, 64 lanes for the maximum, one division a row",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, measure

x = np.random.default_rng(3).standard_normal((512, 2048)).astype(np.float32)
y = np.empty_like(x)
check = partial(expect_close, want=softmax_plain(x), inner=2048, scale=4)
rungs = [
    Rung("naive kernel", softmax_naive, args=(x,), check=check),
    Rung("plain NumPy", softmax_plain, args=(x,), check=check),
    Rung("softmax of 03", vectorized.softmax, args=(x,), kwargs={"out": y}, check=check),
    Rung("softmax_fused", softmax_fused, args=(x,), kwargs={"out": y}, check=check),
]
found = {m.rung.name: m for m in measure(rungs, rounds=5)}
print(f"softmax of {x.shape[0]} x {x.shape[1]} float32")
for name, m in found.items():
    if m.left_out:
        print(f"{name:18}left out: {m.left_out}")
    else:
        per_plain = found["plain NumPy"].seconds / m.seconds
        print(f"{name:18}{m.seconds * 1e6:9.0f} us{per_plain:8.2f} times plain NumPy")

# %% [markdown]
"""
The naive kernel is compiled, fused, and behind plain NumPy. Being compiled is no merit in itself; what counts is which instructions come out.
"""

# %% [markdown]
r"""
## Exercise 6: Layer norm in one pass

Mean and variance take two passes over a row, since the variance needs the mean first. There is a formula that takes one, *the mean of the squares less the square of the mean*, and 02 showed how it fails: around 10,000 both are a hundred million, and float32 keeps nothing of their difference.

The cure is old and cheap: take a number `k` near the mean off first. The variance does not change, and the sums become small.

$$ \mu - k = \frac1n \sum_j (x_j - k) \qquad \sigma^2 = \frac1n \sum_j (x_j - k)^2 - (\mu - k)^2 $$

Any number near the mean will do; ours is the mean of the first 16 elements, so that one outlier at the beginning is diluted. `pilot` gives it. `moments` turns the two sums into mean and variance, and looks whether the shift was a good one: where little is left after the subtraction, or a square has run over, it adds up once more in float64. That is rare, and the check costs nothing.

1. One pass over the row: `d = x[j] - k`, and the sums of `d` and `d * d`. Nothing is stored yet.
2. `moments`, then one factor `1 / sqrt(variance + eps)`.
3. A second walk over the row: `(d - mean) * factor * gamma + beta` goes to `y`. There `d` is worked out once more; a subtraction costs less than a store and a load.

The third step has a trap. `gamma` and `beta` are each as long as a row. A first cache that holds one such row may not hold three, and then every row loads both anew from the second. So do steps 1 and 2 for a band of `BAND` rows, put shift, mean and factor of each into `found`, and then let `second_walk`, which is given, write the whole band. It goes by pieces of `PIECE` columns, and all rows of the band use a piece of `gamma` and `beta` while it is in the first cache. That is 05's blocking again.

Do not add `k` to the mean again to "correct" it: around a million a float32 knows sixteenths, and the mean of the *deviations* is known far better than that.

*Another way that everybody knows:* Welford's method updates mean and variance with every element. It is right, it needs no shift, and every step waits for the division of the step before.

**Predict.** Plain NumPy, 03's layer norm, a two-pass kernel without `fastmath`, and yours: which is how far from copying the array?
"""


# %%
#| export
def check_vectors(x, **vectors):
    """Look that each vector has one element for each column of x, and the dtype of x."""
    check_float_array("x", x, ndim=None)
    columns = x.shape[-1]
    for name in vectors:
        (length,) = check_float_array(name, vectors[name], ndim=1, dtype=x.dtype)
        if length != columns:
            raise ValueError(f"{name} has {length} elements, a row of x has {columns}")


def beside(vector, x, out):
    """Whether check_vectors and place_for would take a gamma or beta, in one look as in ready."""
    return (
        type(vector) is np.ndarray
        and vector.dtype is x.dtype
        and vector.shape == x.shape[-1:]
        and not np.may_share_memory(vector, out)
    )


def norm_rows(kernel, x, gamma, beta, eps, out):
    """Let a kernel(x, gamma, beta, eps, y) normalise the rows of x into out, or a new array."""
    if eps <= 0 or eps != eps:
        raise ValueError(f"eps = {eps}: it must be a number above 0")
    if not (ready(x, out) and beside(gamma, x, out) and beside(beta, x, out)):
        check_vectors(x, gamma=gamma, beta=beta)
        out = place_for(x, out, gamma, beta)
    return by_rows(kernel, x, out, compiled_form(gamma), compiled_form(beta), float(eps))


@kernel
def pilot(row):
    """The mean of the first 16 elements of a row, in its dtype: a number near its mean."""
    first = row[:16]
    # In shares, and in float64: the sum of large numbers might be none any more.
    share, mean = np.float64(1) / len(first), np.float64(0)
    for j in range(len(first)):
        mean += share * first[j]
    return row.dtype.type(mean)


@kernel
def moments(row, shift, total, squares):
    """(mean, variance) of the deviations row - shift, in float64.

    row            : (n,) float32 or float64
    shift          : a number of its dtype
    total, squares : sum of the deviations, and sum of their squares; where these lost too many
                     digits, or overflowed, both are added up again in float64
    """
    n = len(row)
    mean, square = np.float64(total) / n, np.float64(squares) / n
    if not mean * mean < 0.5 * square < math.inf:
        exact = exact_squares = 0.0
        for j in range(n):
            deviation = np.float64(row[j] - shift)
            exact += deviation
            exact_squares += deviation * deviation
        mean, square = exact / n, exact_squares / n
    return mean, max(square - mean * mean, 0.0)


# Rows that share one walk over gamma and beta, and columns of a piece of it.
BAND, PIECE = 16, 1024


# m, n: rows, columns
@kernel
def second_walk(band, found, gamma, beta, y):
    """y = (band - shift - mean) * factor * gamma + beta, in pieces of columns.

    band, y     : (m, n) of one dtype, m <= BAND; only y is changed
    found       : (BAND, 3), the shift, mean and factor of each row
    gamma, beta : (n,)
    In long rows the first piece ends with a cache line, so that the others are stored line by line.
    """
    columns = band.shape[1]
    first = (up_to_line(y[0]) if columns > PIECE else 0) or PIECE
    for stop in range(first, columns + PIECE, PIECE):
        low, high = max(stop - PIECE, 0), min(stop, columns)
        scale, offset = gamma[low:high], beta[low:high]
        for i in range(len(band)):
            shift, mean, factor = found[i, 0], found[i, 1], found[i, 2]
            row, normed = band[i, low:high], y[i, low:high]
            for j in range(len(row)):
                normed[j] = (row[j] - shift - mean) * factor * scale[j] + offset[j]


# %%
# Given: a specification, and forms to compare with.
def layernorm_spec(x, gamma, beta, eps=1e-5):
    """Layer norm with mean and variance as exact fractions (module statistics)."""
    unit = np.array([_normed_row(row, eps) for row in x.tolist()]).reshape(x.shape)
    scaled = unit * gamma.astype(float) + beta.astype(float)
    return scaled.astype(x.dtype)


def _normed_row(row, eps):
    if not row or not all(map(math.isfinite, row)):
        return [nan] * len(row)
    exact = [Fraction(v) for v in row]
    centre = statistics.mean(exact)
    root = math.sqrt(statistics.pvariance(exact, centre) + Fraction(eps))
    return [float(v - centre) / root for v in exact]


def layernorm_around(x, gamma, beta, eps, mean):
    """Layer norm around a mean that is right or not, with the variance that goes with it."""
    wide = x.astype(float) - mean
    root = np.sqrt((wide * wide).mean(axis=1, keepdims=True) + eps)
    return (wide / root * gamma + beta).astype(x.dtype)


def layernorm_plain(x, gamma, beta, eps=1e-5):
    """Layer norm as one writes it first in NumPy."""
    variance = x.var(axis=-1, keepdims=True)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + eps) + beta


@njit(error_model="numpy")
def two_pass_kernel(x, gamma, beta, eps, y):
    rows, columns = x.shape
    for i in range(rows):
        added = 0.0
        for j in range(columns):
            added += x[i, j]
        mean = added / columns
        squares = 0.0
        for j in range(columns):
            squares += (x[i, j] - mean) ** 2
        factor = 1 / math.sqrt(squares / columns + eps)
        for j in range(columns):
            y[i, j] = (x[i, j] - mean) * factor * gamma[j] + beta[j]


def layernorm_two_pass(x, gamma, beta):
    """Layer norm by two passes, without fastmath."""
    y = np.empty_like(x)
    two_pass_kernel(x, gamma, beta, 1e-5, y)
    return y


# %% nbgrader={"grade": false, "grade_id": "layernorm_fused", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
#| writes: y
# m, n: rows, columns
@kernel
def layernorm_kernel(x, gamma, beta, eps, y):
    """Layer norm of each row of x, written into y; one pass for the sums, one for the result.

    x, y        : (m, n) C-contiguous, of one dtype; only y is changed; m or n may be 0
    gamma, beta : (n,) of that dtype
    eps         : float64
    Only single numbers of a row are float64, no loop over its elements.
    """
    # Hint: steps 1 and 2 for each row of a band, then step 3 for the band; constants in x's dtype.
    #   About 15 lines.
    ### BEGIN SOLUTION
    found, zero = np.empty((BAND, 3), x.dtype), x.dtype.type(0)
    for first in range(0, len(x), BAND):
        band = x[first : first + BAND]
        for i in range(len(band)):
            row = band[i]
            shift = pilot(row)
            total = squares = zero
            for j in range(len(row)):
                deviation = row[j] - shift
                total += deviation
                squares += deviation * deviation
            mean, variance = moments(row, shift, total, squares)
            found[i, 0], found[i, 1], found[i, 2] = shift, mean, 1 / math.sqrt(variance + eps)
        second_walk(band, found, gamma, beta, y[first : first + BAND])
    ### END SOLUTION


def layernorm_fused(x, gamma, beta, eps=1e-5, out=None):
    """Layer normalisation along the last axis, in one pass for the sums and one for the result.

        y = gamma * (x - mean) / sqrt(var + eps) + beta
        mean = sum of x / n,  var = sum of (x - mean)**2 / n, both along the last axis

    x     : (..., n) float32 or float64, any stride; not modified; x - mean must fit into its dtype
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    out   : an array of x's shape and dtype, or None for a new one
    returns out
    raises TypeError and ValueError as check_float_array and check_out, ValueError also for a
        gamma or beta that is not (n,), with its name in the message, and for eps that is not > 0

    A row that holds NaN or an infinity is all NaN. No warning escapes. The shift: T. F. Chan,
    G. H. Golub, R. J. LeVeque, Algorithms for Computing the Sample Variance, The American
    Statistician 37(3), 1983.

    >>> layernorm_fused(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    return norm_rows(layernorm_kernel, x, gamma, beta, eps, out)


# Given: as for softmax.
@parallel_kernel
def layernorm_bands(x, gamma, beta, eps, y):
    """layernorm_kernel on bands of rows, which threads share out."""
    for w in prange(BANDS):
        first, last = int(w) * len(x) // BANDS, (int(w) + 1) * len(x) // BANDS
        layernorm_kernel(x[first:last], gamma, beta, eps, y[first:last])


def layernorm_prange(x, gamma, beta, eps=1e-5, out=None):
    """layernorm_fused by all threads that Numba has: its arguments, its errors, its results.

    x     : (..., n) float32 or float64, any stride; not modified
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    out   : an array of x's shape and dtype, or None for a new one
    returns out

    >>> layernorm_prange(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    with one_launch:
        return norm_rows(layernorm_bands, x, gamma, beta, eps, out)


# %% nbgrader={"grade": true, "grade_id": "layernorm_fused-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in as_python(layernorm_kernel):
    for shape, offset, eps in (
        ((3, 5), 0, 1e-5),
        ((2, 40), 0, 0.5),
        ((2, 1), 0, 1e-5),
        ((2, 21), 1e4, 1e-5),
        ((2, 21), 1e6, 1e-5),
        ((35, 3), 0, 1e-5),
    ):
        x = ramp(*shape) + np.float32(offset)
        gamma, beta = ramp(shape[1], seed=2), ramp(shape[1], seed=3)
        wanted = layernorm_spec(x, gamma, beta, eps)
        plain = layernorm_spec(x, np.ones_like(gamma), np.zeros_like(beta), eps)
        wide = x.astype(float)
        mean = wide.mean(axis=1, keepdims=True)
        rounded = np.float32(mean).astype(float)
        first = wide[:, :16].mean(axis=1, keepdims=True)
        root = np.sqrt(wide.var(axis=1, keepdims=True) + eps)
        shifted = ((wide - first) / root * gamma + beta).astype(x.dtype)
        unlike = (wide - mean + first) / root * gamma + beta
        outside = (wide - mean) / (wide.std(axis=1, keepdims=True) + eps) * gamma + beta
        got = expect_written(run, x, gamma, beta, eps, np.full(shape, 7, np.float32), place=4)
        around = partial(layernorm_around, x, gamma, beta, eps)
        causes = {
            "gamma and beta are not used": lambda: plain,
            "eps stands outside the root: sqrt(variance + eps)": lambda: outside.astype(x.dtype),
            "the mean was rounded to float32: normalise (x - k) - mean": lambda: around(rounded),
            "k was not taken off in the second walk": lambda: unlike.astype(x.dtype),
            "the mean of the deviations was not taken off": lambda: shifted,
        }
        hint = "k, one pass over d = x - k, moments, then (d - mean) * factor * gamma + beta"
        case = f"{how}, x {shape} around {offset:,.0f}, eps={eps}"
        expect_close(got, wanted, inner=shape[1], scale=10, likely=causes, hint=hint, case=case)

# %% nbgrader={"grade": true, "grade_id": "layernorm_fused-compiled", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in python_and_compiled(layernorm_kernel):
    for offset in (0, 1e4):
        x = ramp(2, 37) + np.float32(offset)
        gamma, beta = ramp(37, seed=2), ramp(37, seed=3)
        wanted = layernorm_spec(x, gamma, beta)
        got = expect_written(run, x, gamma, beta, 1e-5, np.full((2, 37), 7, np.float32), place=4)
        hint = "first make the test above pass, which runs the kernel as plain Python"
        expect_close(
            got, wanted, inner=37, scale=10, hint=hint, case=f"{how}, around {offset:,.0f}"
        )
x, ones, zeros = ramp(3, 6), np.ones(6, np.float32), np.zeros(6, np.float32)
wanted = layernorm_spec(x, ones, zeros)
got = expect_unchanged(layernorm_fused, x, ones, zeros)
expect_close(got, wanted, inner=6, scale=10, hint="the function around the kernel stays as it is")
asm = claim("assembly", layernorm_kernel, x, ones, zeros, 1e-5, np.zeros_like(x))
packed = partial(filter, lambda loop: loop.multiplies and not loop.doubles)
missing = None
if not any(not loop.stores for loop in packed(inner_loops(asm))):
    missing = (
        "no loop in the assembly adds up both sums in packed float32. A sum that begins as the bare "
        "0.0 is a float64, it begins as x.dtype.type(0); and it is a loop, no d.sum()"
    )
elif not any(loop.stores for loop in packed(inner_loops(asm))):
    missing = (
        "no loop in the assembly writes y in packed float32: mean and factor are float64 from "
        "moments and math.sqrt. x.dtype.type(...) around each, before the loop"
    )
points(0 if missing else 1, missing)

# %% nbgrader={"grade": true, "grade_id": "layernorm_fused-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("layernorm_fused-hidden").standard_normal
hint = "any number of rows and columns; eps counts"
for m, n in ((3, 15), (2, 17), (1, 70), (19, 2), (2, 1), (2, 0), (0, 4)):
    x, gamma, beta = (normal(size).astype(np.float32) for size in ((m, n), n, n))
    wanted = layernorm_spec(x, gamma, beta, 0.25)
    y = np.full((m, n), nan, np.float32)
    got = expect_written(layernorm_kernel.py_func, x, gamma, beta, 0.25, y, place=4)
    expect_close(got, wanted, inner=n + 1, scale=20, allow_empty=True, hint=hint)
for run in (layernorm_kernel.py_func, layernorm_kernel):
    for offset in (1e4, -1e6):
        x, gamma, beta = (normal(size).astype(np.float32) for size in ((2, 50), 50, 50))
        x += np.float32(offset)
        wanted = layernorm_spec(x, gamma, beta)
        got = expect_written(run, x, gamma, beta, 1e-5, np.full((2, 50), nan, np.float32), place=4)
        hint = "rows far from 0: the shift comes off before anything is squared"
        expect_close(got, wanted, inner=50, scale=20, hint=hint)
for m, n in ((3, 15), (2, 16), (2, 17), (3, 70), (1, 2), (2, 1), (2, 0), (0, 4)):
    x, gamma, beta = (normal(size).astype(np.float32) for size in ((m, n), n, n))
    wanted = layernorm_spec(x, gamma, beta, 0.25)
    got = expect_fresh(layernorm_fused, x, gamma, beta, eps=0.25)
    expect_close(got, wanted, inner=n + 1, scale=20, allow_empty=True, hint=f"{hint}; a new array")
x, gamma, beta = normal((4, 6)), normal(6), normal(6)
wanted = layernorm_spec(x, gamma, beta)
for (name, view), (_, scale) in zip(layouts(x), layouts(gamma)):
    got = expect_unchanged(layernorm_fused, view, scale, beta)
    expect_close(got, wanted, inner=6, scale=20, hint=f"float64; x and gamma may be {name}")
outlier = normal((2, 64)).astype(np.float32)
outlier[:, 0] = 1e4
late = np.where(np.arange(100) < 20, 0, 1000).astype(np.float32) + ramp(2, 100)
for x in (outlier, late, np.full((2, 33), 0.1, np.float32), np.full((1, 40), -1e6, np.float32)):
    gamma, beta = np.ones(x.shape[1], np.float32), np.zeros(x.shape[1], np.float32)
    wanted = layernorm_spec(x, gamma, beta)
    hint = "one outlier in front, a row that changes its level, a row of equal numbers"
    expect_close(layernorm_fused(x, gamma, beta), wanted, inner=x.shape[1], scale=20, hint=hint)
x = np.array([[1, nan, 2, 3], [inf, 0, 0, 0], [1, 3e38, 1, 3e38], [1, 2, 3, 4]], np.float32)
gamma, beta = np.ones(4, np.float32), np.zeros(4, np.float32)
wanted = layernorm_spec(x, gamma, beta)
hint = "NaN and inf stay in their row; squares that overflow are added up in float64"
expect_close(layernorm_fused(x, gamma, beta), wanted, inner=4, hint=hint)
### END HIDDEN TESTS


# %% nbgrader={"grade": true, "grade_id": "layernorm_fused-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x, gamma, beta = ramp(35, 7), ramp(7, seed=2), ramp(7, seed=3)
wanted = layernorm_spec(x, gamma, beta)
got = expect_written(layernorm_kernel.py_func, x, gamma, beta, 1e-5, np.zeros_like(x), place=4)
expect_close(got, wanted, inner=7, scale=10, hint="right values first")


def draw_activations(rng):
    shapes = ((64, 4096), 4096, 4096)
    x, gamma, beta = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    return x, gamma, beta, 1e-5, x.copy()


points(
    speed(
        layernorm_kernel,
        two_pass_kernel,
        draw_activations,
        writes=4,
        inner=4096,
        points=2,
        full=1.7,
        half=1.3,
        hint="one pass for both sums, and no float64 in it: constants have the dtype of x; one "
        "second_walk for a band of rows, not for each row",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, measure


@kernel
def welford_kernel(x, gamma, beta, eps, y):
    for i in range(len(x)):
        mean, squares = x.dtype.type(0), x.dtype.type(0)
        for j in range(x.shape[1]):
            step = x[i, j] - mean
            mean += step / x.dtype.type(j + 1)
            squares += step * (x[i, j] - mean)
        factor = x.dtype.type(1 / math.sqrt(squares / x.shape[1] + eps))
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * factor * gamma[j] + beta[j]


x = np.random.default_rng(5).standard_normal((256, 4096)).astype(np.float32)
gamma, beta, y = ramp(4096, seed=2), ramp(4096, seed=3), np.empty_like(x)
want = layernorm_plain(x, gamma, beta)
check = partial(expect_close, want=want, inner=4096, scale=50)


def welford(x, gamma, beta):
    """Layer norm by Welford's updates."""
    welford_kernel(x, gamma, beta, 1e-5, y)
    return y


arguments = dict(args=(x, gamma, beta), check=check)
rungs = [
    Rung("Welford", welford, **arguments),
    Rung("layernorm of 03", partial(vectorized.layernorm, out=y), **arguments),
    Rung("plain NumPy", layernorm_plain, **arguments),
    Rung("two passes", layernorm_two_pass, **arguments),
    Rung("layernorm_fused", partial(layernorm_fused, out=y), **arguments),
    Rung("copy of x", lambda: np.copyto(y, x)),
]
found = {m.rung.name: m for m in measure(rungs, rounds=5)}
print(f"layer norm of {x.shape[0]} x {x.shape[1]} float32")
for name, m in found.items():
    if m.left_out:
        print(f"{name:18}left out: {m.left_out}")
    else:
        per_plain = found["plain NumPy"].seconds / m.seconds
        print(f"{name:18}{m.seconds * 1e6:9.0f} us{per_plain:8.2f} times plain NumPy")

# %% [markdown]
r"""
03 kept its statistics in float64 and paid for it with conversions, pass by pass. Here the shift makes float32 sums good enough, and the check in `moments` says when they are not.

## Exercise 7: A loop for all cores

`parallel=True` and `prange` in place of `range`: Numba hands out pieces of that loop to threads. It does not look whether the turns of the loop get in one another's way. That is your part, and module 06 is full of what can happen. Two rules are enough here:

- *Each turn writes to a place of its own.* Rows of `c`, for a product.
- *What has to be added up across turns is added up in private, and merged at the end.* For the column sums of a tall matrix every band of rows gets a row of its own in `parts`, and NumPy adds up `parts`.

`out[j] += x[i, j]` with `i` from `prange` breaks the second rule: two threads read the same old value, both add, one update is lost. The measure cell shows it, if your machine has two cores and a little luck; a small matrix hides it.

Rows that know nothing of one another are the easy case: `softmax_prange` and `layernorm_prange`, given behind your kernels of exercises 5 and 6, hand each turn a band of rows.

The index of a `prange` may be an unsigned number to Numba, and an unsigned number times a signed one is a *float64*. `band = int(w)` makes it an ordinary one.

**Predict.** With two threads: twice as fast for the product? And for the column sums, which read a lot and write next to nothing?
"""


# %%
def column_bands(x, workers):
    """The sums of the columns, in float64, for each of so many bands of rows."""
    m = len(x)
    bands = [x[w * m // workers : (w + 1) * m // workers] for w in range(workers)]
    return np.array([band.astype(float).sum(axis=0) for band in bands]).astype(x.dtype)


# %% nbgrader={"grade": false, "grade_id": "matmul_prange", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, spec
#| writes: c, parts
@parallel_kernel
def matmul_prange_kernel(a, b, c):
    """c = a b, the rows of c shared out to threads; what stood in c does not count.

    a : (m, k), b : (k, n), c : (m, n), all C-contiguous and of one dtype; only c is changed
    """
    # Hint: matmul_ikj_kernel with one word more. About 7 lines.
    ### BEGIN SOLUTION
    m, n = c.shape
    for i in prange(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]
    ### END SOLUTION


@parallel_kernel
def column_sums_kernel(x, parts):
    """The sums of the columns of x for each band of rows, one row of parts a band.

        parts[w, j] = sum of x[i, j] over w*m//workers <= i < (w + 1)*m//workers

    x     : (m, n) C-contiguous; not modified
    parts : (workers, n), its dtype; what stood in it does not count
    allocates nothing: the private place of band w is its row of parts
    """
    # Hint: prange over the bands; in a band clear its row of parts, then add row by row. About 9
    #   lines.
    ### BEGIN SOLUTION
    m, n = x.shape
    workers = len(parts)
    for w in prange(workers):
        band = int(w)
        mine = parts[band]
        mine[:] = 0
        for i in range(band * m // workers, (band + 1) * m // workers):
            for j in range(n):
                mine[j] += x[i, j]
    ### END SOLUTION


def matmul_prange(a, b, out=None):
    """The product of two matrices by all threads that Numba has.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_prange(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    with one_launch:
        return multiply(matmul_prange_kernel, a, b, out)


def column_sums_prange(x):
    """The sum of each column, by all threads that Numba has.

    x : (m, n) float32 or float64, any stride; not modified
    returns (n,) of x's dtype, a new array; m = 0 gives zeros
    raises TypeError and ValueError as check_float_array

    >>> column_sums_prange(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    columns = check_float_array("x", x, ndim=2)[1]
    parts = np.empty((BANDS, columns), x.dtype)
    with one_launch:
        column_sums_kernel(compiled_form(x), parts)
    return parts.sum(axis=0)


# %% nbgrader={"grade": true, "grade_id": "matmul_prange-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for how, run in as_python(matmul_prange_kernel):
    for m, k, n in ((3, 4, 2), (7, 5, 6)):
        a, b = ramp(m, k), ramp(k, n, seed=1)
        scale = matmul_scale(a, b) + 7
        wanted = matmul_spec(a, b)
        got = expect_written(run, a, b, np.full((m, n), 7, np.float32), place=2)
        causes = {"c was not cleared: the second call is doubled": lambda: wanted + np.float32(7)}
        hint = "prange over i; each turn clears and fills its own row of c"
        case = f"{how}, a ({m}, {k}), b ({k}, {n})"
        expect_close(got, wanted, inner=k, scale=scale, likely=causes, hint=hint, case=case)
for how, run in as_python(column_sums_kernel):
    for m, n, workers in ((6, 3, 2), (11, 2, 4), (2, 3, 5)):
        x = np.round(ramp(m, n))
        wanted = column_bands(x, workers)
        got = expect_written(run, x, np.full((workers, n), 7, np.float32), place=1)
        least = wanted.sum(axis=0)
        causes = {
            "parts was not cleared": lambda: wanted + np.float32(7),
            "all bands were added to the first row of parts: a row for each band": lambda: np.where(
                np.arange(workers)[:, None] == 0, least, 0
            ).astype(x.dtype),
        }
        hint = "band w has the rows from w*m//workers to (w + 1)*m//workers and writes to parts[w]"
        case = f"{how}, x ({m}, {n}), workers={workers}"
        expect_equal(got, wanted, likely=causes, hint=hint, case=case)

# %% nbgrader={"grade": true, "grade_id": "matmul_prange-compiled", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b, x = ramp(4, 3), ramp(3, 5, seed=1), np.round(ramp(11, 2))
scale = matmul_scale(a, b)
wanted, sums = matmul_spec(a, b), column_bands(x, 4)
hint = (
    "right as plain Python in the test above, and not by several threads? Then turns of prange write "
    "to one place: the outermost loop is the one over prange"
)
for how, run in python_and_compiled(matmul_prange_kernel):
    got = expect_written(run, a, b, np.full((4, 5), 7, np.float32), place=2)
    expect_close(got, wanted, inner=3, scale=scale, hint=hint, case=how)
for how, run in python_and_compiled(column_sums_kernel):
    got = expect_written(run, x, np.full((4, 2), 7, np.float32), place=1)
    expect_equal(got, sums, hint=hint, case=how)
got = expect_unchanged(matmul_prange, a, b)
expect_close(
    got, wanted, inner=3, scale=scale, hint="the function around the kernel stays as it is"
)
x = np.round(ramp(100, 3))
wanted = x.sum(axis=0)
got = expect_unchanged(column_sums_prange, x)
expect_equal(got, wanted, hint="all bands together are all rows")

# %% nbgrader={"grade": true, "grade_id": "matmul_prange-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("matmul_prange-hidden")
for dtype, run in (
    (np.float64, column_sums_kernel.py_func),
    (np.float32, column_sums_kernel.py_func),
    (np.float32, column_sums_kernel),
):
    for m, n, workers in ((1, 1, 1), (0, 2, 3), (13, 0, 2), (7, 4, 7), (200, 5, 3)):
        x = draw.integers(-50, 50, (m, n)).astype(dtype)
        wanted = column_bands(x, workers).reshape(workers, n)
        got = expect_written(run, x, np.full((workers, n), nan, dtype), place=1)
        hint = "any number of rows, columns and bands, also more bands than rows"
        expect_equal(got, wanted, allow_empty=True, hint=hint)
for m, k, n in ((1, 1, 1), (2, 0, 3), (0, 2, 2), (33, 9, 20)):
    a, b = (draw.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    scale = matmul_scale(a, b)
    wanted = matmul_spec(a, b)
    got = expect_fresh(matmul_prange, a, b)
    expect_close(got, wanted, inner=k, scale=scale, allow_empty=True, hint="the product, any size")
x = draw.integers(-8, 8, (200_003, 2)).astype(np.float32)
wanted = x.sum(axis=0)
for _ in range(3):
    expect_equal(column_sums_prange(x), wanted, hint="200,003 rows: no update may get lost")
x = draw.integers(-50, 50, (9, 4)).astype(np.float32)
wanted = x.sum(axis=0)
for name, view in layouts(x):
    expect_equal(column_sums_prange(view), wanted, hint=f"x may be {name}")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "matmul_prange-parallel", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b, parts = ramp(8, 8), ramp(8, 8, seed=1), np.zeros((4, 8), np.float32)
wanted, sums = matmul_spec(a, b), column_bands(a, 4)
left, right, c = (remote_array(ramp(4, 3), "a"), remote_array(ramp(3, 2), "b"), ramp(4, 2))
c = remote_array(c, "out")
matmul_prange_kernel.py_func(left, right, c)
expect_close(contents(c), matmul_spec(ramp(4, 3), ramp(3, 2)), inner=3, scale=200)
got = expect_written(column_sums_kernel.py_func, a, np.full((4, 8), 7, np.float32), place=1)
expect_close(got, sums, inner=8, scale=100, hint="right values first")
rows_written = trace(c).addresses[trace(c).writes] // 8


def lacking():
    """What a claim finds wrong; the later ones are not asked for then."""
    if np.any(np.diff(rows_written) < 0):
        return (
            "the rows of c are not written one after the other: turns of the prange loop that "
            "share a row lose each other's updates. prange belongs to the loop over i"
        )
    of_product = (matmul_prange_kernel, a, b, np.zeros((8, 8), np.float32))
    of_sums = (column_sums_kernel, a, parts)
    if claim("parfors", *of_product) < 1:
        return (
            "no parallel loop over i in Numba's diagnostics: the outermost loop of "
            "matmul_prange_kernel is the one over prange. Inside of a loop over range, turns that "
            "share a row lose each other's updates; an assignment to a slice is no such loop"
        )
    if claim("parfors", *of_sums) < 1:
        return (
            "no parallel loop over w in Numba's diagnostics: the outermost loop of "
            "column_sums_kernel is the one over prange"
        )
    # Positive terms: what is added to an element changes it.
    _, beside, shared = claim("turns", of_product[0], a + 4, b + 4, of_product[3])
    _, beside_sums, shared_sums = claim("turns", of_sums[0], a + 4, parts)
    if beside + beside_sums > 0:
        return (
            "elements of c or parts get their last value outside of all turns of prange: what "
            "stands behind that loop, one core does alone"
        )
    if shared + shared_sums > 0:
        return "turns of prange share elements of c or parts: they lose each other's updates"
    made = claim("allocations", *of_sums)
    if made > 0:
        return f"arrays allocated in one call: {made}. parts[w] is the private place of band w"


missing = lacking()
if missing is None:
    got = expect_written(matmul_prange_kernel, a, b, np.zeros((8, 8), np.float32), place=2)
    expect_close(got, wanted, inner=8, scale=200, hint="right values first")
    got = expect_written(column_sums_kernel, a, parts, place=1)
    expect_close(got, sums, inner=8, scale=100, hint="right values first")
points(0 if missing else 1, missing)

# %% tags=["raises-exception"]
#| measure
import numba

from tito.machine import Rung, measure


@parallel_kernel
def racing_sums(x, out):
    """Wrong on purpose: all threads add to the same places."""
    out[:] = 0
    for i in prange(len(x)):
        for j in range(x.shape[1]):
            out[j] += x[i, j]


most = numba.get_num_threads()
print(f"Numba has {most} threads.")
for rows in (1_000, 200_003):
    x = np.ones((rows, 2), np.float32)
    out, least = np.zeros(2, np.float32), rows
    for _ in range(100):
        racing_sums(x, out)
        least = min(least, out[0])
    print(
        f"{rows:8,} rows of ones, added in one place, the worst of 100 calls: {least:10,.0f}, "
        f"lost {rows - least:9,.0f}"
    )
a, b, x = ramp(384, 384), ramp(384, 384, seed=1), np.ones((400_000, 8), np.float32)
square, ones = ramp(1024, 1024), np.ones(1024, np.float32)
rungs = [
    Rung("matmul_prange, 384 x 384", matmul_prange, args=(a, b)),
    Rung("column_sums_prange, 400,000 x 8", column_sums_prange, args=(x,)),
    Rung("softmax_prange, 1,024 x 1,024", softmax_prange, args=(square,)),
    Rung("layernorm_prange, 1,024 x 1,024", layernorm_prange, args=(square, ones, ones)),
]
try:
    spans = []
    for threads in (1, most):
        numba.set_num_threads(threads)
        # By the clock on the wall: that of one thread does not see the others.
        spans.append(measure(rungs, rounds=5, threads=max(most, 2)))
    for one, many in zip(*spans):
        if many.left_out:
            print(f"{many.rung.name:32}left out: {many.left_out}")
            continue
        print(
            f"{one.rung.name:32} 1 thread {one.seconds * 1e3:7.2f} ms, {most}: "
            f"{many.seconds * 1e3:7.2f} ms, {one.seconds / many.seconds:.2f} times"
        )
finally:
    numba.set_num_threads(most)

# %% [markdown]
"""
A wall clock sees everything else that your computer does, so these factors are nothing to be graded by. If your column sums gained less than the product, think of the memory that all cores share.

## What compiling costs

Each first call above compiled something. The next cell shows how long it took, and runs one kernel in a Python in which Numba is switched off by `NUMBA_DISABLE_JIT=1`: the same source, every line in the interpreter, every index checked. That is the second tool beside `py_func` when something is odd.

`@njit(cache=True)` keeps machine code on disk. This course does not use it: the cache looks at the file of the kernel alone, and an edit in *another* file that the kernel calls goes unnoticed.
"""

# %% tags=["raises-exception"]
#| measure
import os
import subprocess
import sys

from tito.machine import Rung, measure

row, matrix = ramp(64), ramp(64, 64)


def fresh(decorator, function, *args):
    """A call of a new copy of a kernel, which compiles it when it is made first."""
    compiled = decorator(function.py_func)
    return Rung(function.__name__, lambda: compiled(*args))


rungs = [
    fresh(kernel, relu_kernel, row, row.copy()),
    fresh(kernel, matmul_ikj_kernel, matrix, matrix, matrix.copy()),
    fresh(kernel, tile_4x4, matrix, matrix, matrix.copy(), 0, 0, 64, 0, 64),
    fresh(kernel, softmax_kernel, matrix, matrix.copy()),
    fresh(parallel_kernel, matmul_prange_kernel, matrix, matrix, matrix.copy()),
]
print("on 64 numbers, or 64 x 64     first call    later calls")
for m in measure(rungs, rounds=3):
    times = m.left_out or f"{m.first_call:10.2f} s {m.seconds * 1e6:12.1f} us"
    print(f"{m.rung.name:26}{times}")
program = """
import time, numpy as np, numba
@numba.njit
def triple(a, b, c):
    for i in range(len(a)):
        for p in range(len(b)):
            for j in range(len(c)):
                c[i, j] += a[i, p] * b[p, j]
a = np.ones((60, 60), np.float32)
triple(a, a, a.copy())
begin = time.perf_counter()
triple(a, a, a.copy())
print(time.perf_counter() - begin)
"""
spans = []
for off in ("0", "1"):
    environment = dict(os.environ, NUMBA_DISABLE_JIT=off)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    spans.append(float(done.stdout))
print(
    f"A product of two 60 x 60, second call: {spans[0] * 1e3:.3f} ms compiled, "
    f"{spans[1] * 1e3:.0f} ms with NUMBA_DISABLE_JIT=1."
)

# %% [markdown]
r"""
## Use it: one block of a language model

A block of a transformer is, apart from its attention, matrix products with row kernels between them. Here is such a piece at the sizes of a small real model: 128 tokens of 576 numbers, weights of 576 x 1536, softmax over the rows, layer norm. First with the best that you had before this module's last exercises, then with the new kernels, part by part.

*Amdahl's law* says what to expect before you measure. If part `i` takes the share $s_i$ of the time and becomes $f_i$ times as fast, the whole becomes

$$ \frac{1}{\sum_i s_i / f_i} $$

times as fast. The cell works it out from the parts, and then measures the whole.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

draw = np.random.default_rng(7)
tokens = draw.standard_normal((128, 576)).astype(np.float32)
weights = (draw.standard_normal((576, 1536)) / 24).astype(np.float32)
gamma, beta = np.ones(1536, np.float32), np.zeros(1536, np.float32)


def block(matmul, softmax, layernorm):
    """GEMM, softmax of its rows, layer norm of these."""
    return layernorm(softmax(matmul(tokens, weights)), gamma, beta)


before = (matmul_ikj, vectorized.softmax, vectorized.layernorm)
after = (matmul_registers, softmax_fused, layernorm_fused)
try:
    scores = before[0](tokens, weights)
    chances = before[1](scores)
    arguments = ((tokens, weights), (scores,), (chances, gamma, beta))
    parts = [
        [time_call(f, *args).median for f, args in zip(side, arguments)] for side in (before, after)
    ]
    whole = [time_call(block, *side).median for side in (before, after)]
    apart = np.max(np.abs(block(*before) - block(*after)))
except NotImplementedError as error:
    print(f"left out: {error or 'not written yet'}")
else:
    print("part           before        after     times    share before")
    for name, old, new in zip(("GEMM", "softmax", "layer norm"), *parts):
        print(
            f"{name:11}{old * 1e6:7.0f} us{new * 1e6:10.0f} us{old / new:10.2f}{100 * old / sum(parts[0]):13.0f} %"
        )
    share = [old / sum(parts[0]) for old in parts[0]]
    predicted = 1 / sum(s / (old / new) for s, old, new in zip(share, *parts))
    print(
        f"{'whole':11}{whole[0] * 1e6:7.0f} us{whole[1] * 1e6:10.0f} us{whole[0] / whole[1]:10.2f}"
    )
    print(
        f"Amdahl's law predicts {predicted:.2f} times. Largest difference of the results {apart:.1e}."
    )
    largest = max(range(3), key=lambda i: parts[1][i])
    print(
        f"What is left: {100 * parts[1][largest] / sum(parts[1]):.0f} % is {('GEMM', 'softmax', 'layer norm')[largest]}."
    )

# %% [markdown]
"""
## Scoreboard

Every rung of this module beside those of 03, each compared with a result that is known before it is timed.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, scoreboard

draw = np.random.default_rng(8)
a, b = (draw.standard_normal((256, 256)).astype(np.float32) for _ in range(2))
x = draw.standard_normal((256, 1024)).astype(np.float32)
gamma, beta, places = ramp(1024, seed=2), ramp(1024, seed=3), np.empty_like(x)


def near(want):
    """A check for a rung: its result is `want` up to the rounding of float32."""
    return partial(expect_close, want=want, inner=1024, scale=200)


exact_product = (a.astype(float) @ b.astype(float)).astype(np.float32)
of_matrices = dict(args=(a, b), check=near(exact_product), flops=2 * 256**3)
rows = dict(args=(x,), nbytes=2 * x.nbytes)
weighted = dict(rows, check=near(softmax_plain(x)))
positive = dict(rows, check=near(np.maximum(x, 0)))
normed = dict(
    args=(x, gamma, beta),
    check=near(layernorm_plain(x, gamma, beta)),
    nbytes=2 * x.nbytes,
)
scoreboard(
    [
        Rung("matmul_ijk", matmul_ijk, **of_matrices),
        Rung("vectorized_matmul", vectorized.vectorized_matmul, **of_matrices),
        Rung("matmul_ikj", matmul_ikj, **of_matrices),
        Rung("matmul_registers", matmul_registers, **of_matrices),
        Rung("matmul_baseline", vectorized.matmul_baseline, **of_matrices),
        Rung("vectorized_relu", partial(vectorized.vectorized_relu, out=places), **positive),
        Rung("relu_fused", partial(relu_fused, out=places), **positive),
        Rung("softmax", partial(vectorized.softmax, out=places), **weighted),
        Rung("softmax_fused", partial(softmax_fused, out=places), **weighted),
        Rung("layernorm", partial(vectorized.layernorm, out=places), **normed),
        Rung("layernorm_fused", partial(layernorm_fused, out=places), **normed),
    ],
    rounds=3,
)

# %% [markdown]
"""
`relu_fused` runs at the speed of copying: there is nothing left to win in it. Everything else has a distance to its roof, and the GEMM the largest one in operations. Module 08 takes it up.

## Think

Your answers here are read by a person. Three to six sentences each; lines of assembly and numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. Why does `i, p, j` vectorise, and `i, j, p` not?** Show it in the assembly of both: `matmul_ijk_kernel.inspect_asm()`, and `inner_loops` from `tito.checks`. Quote two or three lines each. Beware: a compiler keeps several versions of a loop. `matmul_ijk_kernel` has a packed one too, often the first in the list, for a `b` of a single column; look for the one that runs when there are more.

### BEGIN SOLUTION
1 point: quotes a packed line of ikj (`vfmadd231ps ... %zmm` or `%ymm`, `mulps`/`addps`, `fmla v.4s`) and the loop that ijk runs for a matrix of more than one column: `vfmadd...ss`, `mulss` or a gather, one element a step. Lines must be quoted.

1 point: the reason in terms of memory: neighbours along j are next to each other in b and c and come with one load; down a column they lie a row apart. A remark that ijk also holds a packed version, for a step of one element, which is chosen at run time and never taken for n > 1, shows understanding and may stand for the first reason.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. Which promise would `fastmath=True` make that we cannot keep?** Name the flag or flags, an input for which the result would change, and a kernel of this module that would be hit. Is `reassoc` harmless?

### BEGIN SOLUTION
1 point: nnan and ninf (no NaN, no infinity ever): a masked row of softmax, or a row with NaN; comparisons with -inf may be taken as false and the zeros of the rule become NaN or anything. An own experiment counts fully.

1 point: reassoc changes the order of additions and so the rounding, which is within the bound that tests allow, but results may differ between machines and vector widths in the last digits, and code that depends on an order (compensated sums, `(x - k) - mean`) could be undone. "Harmless" without that: 0 of this point.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. When is a variance in one pass right?** Say it for the formula with the shift `k`: what makes the error large, and what does `moments` look at? Make up a row for which the first 16 elements are a bad choice.

### BEGIN SOLUTION
1 point: the error grows with (mean - k)^2 / variance: both terms of the difference are large then and their digits cancel; with k near the mean the second term is small against the first. `moments` compares exactly these two, mean*mean against the mean of squares, and NaN or overflow fails the comparison too.

1 point: a row whose beginning is not like the rest (zeros first, then values around 1000; padding in front; an outlier of 1e4 in a short row), with the consequence: sums added up again in float64, slower and still right.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *The notebook's Python dies.* A kernel wrote beyond its array. Run `kernel.py_func` with the same arguments, or compile with `boundscheck=True`.
- *A float64 that nobody asked for.* A name holds a float32 first and a float64 later, such as a sum that begins as `0.0`. Numba says nothing and makes it a float64 throughout: give the constant a dtype.
- *Right, but no faster than before.* Look into the innermost loop with `inner_loops`: a call, a scalar instruction (`ss` at its end instead of `ps`), a `cvtss2sd` that turns float32 into float64.
- *The second call of a kernel is slow again.* Another dtype, layout or read-only flag: `kernel.signatures` lists what was compiled.
- *A sliced matrix is slow.* `c[:, j0:j1]` is no longer contiguous, and Numba compiles for "any layout". Slice rows, pass index ranges.
- *Results differ a little between two machines.* Sums are added up in another order, see question 2.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 07` says the same;
- you have compared your predictions with what the cells printed, above all the table of habits and the naive softmax;
- you have read one innermost loop from its first to its last line;
- the three questions have an answer;
- `tito export 07` has written `tinykernels/jit.py`.

## In production

Numba itself is used where Python meets large arrays: in stumpy and sgkit, in PyData's sparse, in the Awkward Array of particle physics. What you did by hand is what compilers for machine learning do by rule: XLA, TorchInductor and TVM fuse row kernels so that a row stays in the cache, and every deep learning library has a polynomial `exp` of its own. Register tiles are the inner part of BLIS, OpenBLAS and oneDNN; there they are written in assembly or in the intrinsics of module 08.

**References**

- S. K. Lam, A. Pitrou, S. Seibert, *Numba: A LLVM-based Python JIT Compiler*, LLVM-HPC 2015.
- C. Lattner, V. Adve, *LLVM: A Compilation Framework for Lifelong Program Analysis and Transformation*, CGO 2004.
- Numba documentation, *Performance Tips*.
- S. L. Moshier, *Cephes Mathematical Library*, 1984 to 1992.
- T. F. Chan, G. H. Golub, R. J. LeVeque, *Algorithms for Computing the Sample Variance: Analysis and Recommendations*, The American Statistician 37(3), 1983.
- F. G. Van Zee, R. A. van de Geijn, *BLIS: A Framework for Rapidly Instantiating BLAS Functionality*, ACM Transactions on Mathematical Software 41(3), 2015.

## Next

In a terminal:

    tito test 07       the visible tests, in a process of their own
    tito export 07     your kernels become tinykernels/jit.py
    tito submit 07     the file to hand in

Then module 08: the vector instructions themselves.
"""

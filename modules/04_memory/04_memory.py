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
# 04 Memory: predict a cache miss, exactly

| | |
|---|---|
| hours | 4 |
| difficulty | 3 of 5 |
| needs | 01_measure, 02_loops, 03_vectorize; shapes and strides of NumPy arrays |
| code goes to | `tinykernels/memory.py` |
| points | 30 by tests, 6 by hand |

After this module you can

- say at which address an element lies, and which other elements come along when it is fetched;
- write down the addresses that a loop nest asks for, in their order, and let an array tell you whether you were right;
- build a cache in a dozen lines, and say for a walk through memory how often it misses, to the last one;
- explain why an array may become faster when it wastes memory.

The two instruments that you build here, an array that reports its addresses and a cache that counts, are the measuring tools of later modules, from 05 on.

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
#| default_exp memory
#| export
import math
import operator

import numpy as np

from tinykernels.loops import check_count, check_float_array
from tinykernels.vectorized import check_out

# %% jupyter={"source_hidden": true}
# Given: what the tests below use.
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import inf, nan

from tito.checks import (
    CheckFailed,
    at_most,
    cache_misses,
    contents,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_unchanged,
    points,
    remote_array,
    rng,
    trace,
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


# %% jupyter={"source_hidden": true}
# Given: what the measurements below draw with.
BLUE, ORANGE, GREEN, RED = "#56B4E9", "#E69F00", "#009E73", "#D55E00"


def new_plots(*titles, x="", y="", size=(7.5, 3.4)):
    """Empty plots side by side that read on light and on dark pages; none without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("No plot: matplotlib is not installed. The numbers are printed.")
        return []
    figure = Figure(figsize=size, facecolor="none", layout="constrained")
    plots = list(figure.subplots(1, len(titles), squeeze=False)[0])
    for axes, title in zip(plots, titles):
        axes.set_facecolor("none")
        axes.set_title(title, color="0.5", fontsize=11)
        axes.set_xlabel(x, color="0.5")
        axes.set_ylabel(y, color="0.5")
        axes.tick_params(which="both", colors="0.5")
        axes.spines[:].set_color("0.5")
    return plots


def show_plots(plots, alt):
    """Show the plots, with words for those who do not see them."""
    from io import BytesIO

    from IPython.display import Image, display

    if plots:
        png = BytesIO()
        plots[0].figure.savefig(png, format="png", dpi=110, bbox_inches="tight")
        display(Image(png.getvalue(), alt=alt))


def size_text(nbytes):
    """16384 -> "16 KiB": 1 KiB is 1024 bytes, 1 MiB is 1024 KiB."""
    unit, name = next((u, n) for u, n in ((2**20, "MiB"), (2**10, "KiB"), (1, "B")) if nbytes >= u)
    return f"{nbytes / unit:.3g} {name}"


# %% [markdown]
"""
## The gap

A matrix of 2048 x 2048 float32 numbers, summed along its rows and summed down its columns: the same four million additions. Then the columns once more, of a copy whose rows are 16 numbers longer than they need to be. Those 16 are never read.

**Predict.** How many times slower are the columns? And what will the useless 16 numbers cost?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call


def sums_of_rows(a):
    return [a[i].sum() for i in range(a.shape[0])]


def sums_of_columns(a):
    return [a[:, j].sum() for j in range(a.shape[1])]


plain = np.ones((2048, 2048), np.float32)
longer = np.ones((2048, 2048 + 16), np.float32)[:, :2048]
rows = time_call(sums_of_rows, plain, repeats=5).median
columns = time_call(sums_of_columns, plain, repeats=5).median
padded = time_call(sums_of_columns, longer, repeats=5).median
print(f"rows                        {rows * 1e3:8.2f} ms")
print(f"columns                     {columns * 1e3:8.2f} ms   {columns / rows:5.1f} times the rows")
print(f"columns of the longer rows  {padded * 1e3:8.2f} ms   {padded / rows:5.1f} times the rows")
print(f"Wasting memory took {100 * (columns - padded) / (columns - rows):.0f} % of the loss away.")

# %% [markdown]
"""
Nothing in the arithmetic explains this. The processor does not fetch numbers, it fetches *lines*, 64 bytes on most machines, keeps the ones it used lately in a small memory of its own, the *cache*, and waits when it asks for one that is not there. Everything in the table above follows from *which* lines are asked for, in *which order*. At the end of this module you will predict it with a pencil, and the fast "wasteful" array will be the least surprising line of all.

**Rules that hold for all kernels of this course.** Arrays are float32 or float64 and so is the result. Inputs are never changed. Empty inputs are no special case: they give what the mathematics says. Counts (a size, a number of ways) are whole numbers, and `True` is none. Wrong types raise `TypeError`, wrong sizes and values `ValueError`, before any work and with a message. Each exercise gives you a specification to compare with, `..._spec`; a kernel that calls it earns nothing. The doors come from your own package: `tito export 02 03` puts them there.
"""

# %% [markdown]
"""
## Exercise 1: Where an element lies, and what comes along

An array is a block of bytes and two tuples. The *shape* says how many elements there are along each axis, the *strides* say how many bytes it is from one element to the next along each axis. So the element `[i, j]` lies

    i * strides[0] + j * strides[1]

bytes after element `[0, 0]`. That is all. Transposing an array exchanges its strides, reversing it makes one negative, and no element moves.

Memory travels to the processor in lines that begin at multiples of their length: 64 bytes on most processors, 128 on some. This module counts in 64. Ask for one float32 and its neighbours in the line come too, 16 of them in all, whether you want them or not.

<img alt="A table of 4 rows with 16 numbers of 8 bytes each. Each row is two cache lines, drawn in two colours. An arrow along the first row passes 16 numbers and 2 lines. An arrow down the first column passes 4 numbers and 4 lines." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='206' viewBox='0 0 640 206' font-family='sans-serif' font-size='14'><title>Cache lines of a small array</title>
<path d='M57 35h222v26h-222zM57 65h222v26h-222zM57 95h222v26h-222zM57 125h222v26h-222z' fill='rgb(86,180,233)'/>
<path d='M281 35h222v26h-222zM281 65h222v26h-222zM281 95h222v26h-222zM281 125h222v26h-222z' fill='rgb(230,159,0)'/>
<path d='M84 35v26M112 35v26M140 35v26M168 35v26M196 35v26M224 35v26M252 35v26M308 35v26M336 35v26M364 35v26M392 35v26M420 35v26M448 35v26M476 35v26M84 65v26M112 65v26M140 65v26M168 65v26M196 65v26M224 65v26M252 65v26M308 65v26M336 65v26M364 65v26M392 65v26M420 65v26M448 65v26M476 65v26M84 95v26M112 95v26M140 95v26M168 95v26M196 95v26M224 95v26M252 95v26M308 95v26M336 95v26M364 95v26M392 95v26M420 95v26M448 95v26M476 95v26M84 125v26M112 125v26M140 125v26M168 125v26M196 125v26M224 125v26M252 125v26M308 125v26M336 125v26M364 125v26M392 125v26M420 125v26M448 125v26M476 125v26' stroke='white' stroke-width='1' opacity='0.6'/>
<path d='M70 48H494m-8 -6l8 6l-8 6' fill='none' stroke='black' stroke-width='2'/>
<path d='M70 48V144m-6 -8l6 8l6 -8' fill='none' stroke='black' stroke-width='2' stroke-dasharray='5 3'/>
<g fill='rgb(125,125,125)'><text x='56' y='22'>16 numbers of 8 bytes a row, 8 of them in a line</text><text x='4' y='53'>row 0</text><text x='4' y='83'>row 1</text><text x='4' y='113'>row 2</text><text x='4' y='143'>row 3</text><text x='516' y='53'>16 numbers,</text><text x='516' y='71'>2 lines</text><text x='56' y='172'>dashed: 4 numbers, 4 lines</text><text x='56' y='196'>a colour change is the next line of memory</text></g>
</svg>">

An element can also lie *across* two lines: 8 bytes from byte 60 on touch line 0 and line 1. One that is longer than a line (a record, say) touches all lines from that of its first byte to that of its last one. And which line a byte belongs to is found by rounding *down*, also left of zero: the byte before byte 0 belongs to line -1.

**Predict.** A row of 1000 float64 numbers begins at the beginning of a line. How many lines does the whole row touch? How many does every eighth number touch, and how many every fourth?
"""


# %% jupyter={"source_hidden": true}
# Given: the specifications. NumPy knows where its elements lie; lines are found byte by byte.
def address_spec(view, index):
    """Bytes from element [0, 0, ...] of a view to the element at this index, as NumPy says."""
    here, origin = view[(*index, ...)], view[(*(0 for _ in index), ...)]
    return here.__array_interface__["data"][0] - origin.__array_interface__["data"][0]


def lines_spec(offsets, itemsize, line):
    """The lines of all bytes of all elements, one byte at a time."""
    return len({(o + b) // line for o in map(int, offsets) for b in range(itemsize)})


# %% nbgrader={"grade": false, "grade_id": "addresses", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def byte_offset(index, strides):
    """Bytes from element 0, 0, ... to the one at this index.

        index[0]*strides[0] + index[1]*strides[1] + ...

    index   : whole numbers, one for each axis, not negative
    strides : bytes, one for each axis; they may be 0 or negative
    returns an int, which may be negative; also where the numbers are NumPy's
    raises ValueError where the two have different lengths

    >>> byte_offset(index=[2, 3], strides=[40, 8])
    104
    """
    # Hint: zip(..., strict=True) looks at the lengths. One line.
    ### BEGIN SOLUTION
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))
    ### END SOLUTION


def lines_touched(offsets, itemsize, line=64):
    """How many different cache lines some elements lie in.

    An element lies in all lines from its first byte's to its last byte's: in three or more where
    it is longer than a line. Lines between elements, which none of them lies in, do not count.

    offsets  : bytes from the beginning of a line to each element; an array or any iterable of
               whole numbers, which may be negative and may repeat
    itemsize : bytes of an element; it may be more than a line
    line     : bytes of a line
    returns an int; no elements touch no line
    raises TypeError and ValueError as check_count, for itemsize and line

    >>> lines_touched([0, 8, 60, 64], itemsize=8)
    2
    """
    # Hint: a set of all lines from the first byte's to the last byte's, which // gives.
    #   About 6 lines.
    ### BEGIN SOLUTION
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.update(range(int(first), int(last) + 1))
    return len(touched)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "addresses-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x = np.zeros((4, 6))
for name, view in (
    ("C order", x),
    ("transposed", x.T),
    ("every second row and third column", x[::2, ::3]),
    ("rows reversed", x[::-1]),
):
    i, j = view.shape[0] - 1, 1
    want = address_spec(view, (i, j))
    causes = {
        "strides are bytes already: nothing to multiply with": lambda: want * x.itemsize,
        "the strides were taken in the wrong order": lambda: (
            i * view.strides[1] + j * view.strides[0]
        ),
        "that is right for C order only: use the strides, not the shape": lambda: (
            (i * view.shape[1] + j) * x.itemsize
        ),
    }
    case = f"index ({i}, {j}), strides {view.strides}: {name}"
    hint = "add up index times stride, axis by axis"
    expect_equal(byte_offset((i, j), view.strides), want, likely=causes, hint=hint, case=case)
expect_equal(byte_offset((2, 1, 3), (48, 0, -8)), 72, hint="any number of axes: zip the two tuples")
hint = "an int, also where the numbers are NumPy's: int(...)"
expect_equal(byte_offset((np.int64(1), 2), (8, np.int64(4))), 16, hint=hint)
hint = "zip(index, strides, strict=True) raises where the lengths differ"
expect_raises(ValueError, byte_offset, (1, 2), (8,), hint=hint)
for offsets, itemsize, what in (
    ([0, 8, 56], 8, "three elements of one line"),
    ([0, 4, 8, 64, 4, 68], 4, "two lines, some elements twice"),
    ([60, 128], 8, "one element straddles two lines"),
    ([-8, 8, 0, -16], 8, "elements on both sides of zero"),
    (range(0, 4000, 64), 8, "one element in each line"),
    ([640, 0, 128], 8, "three lines far apart"),
    ([0, 100], 200, "elements longer than a line"),
    ([], 8, "no elements"),
):
    want = lines_spec(offsets, itemsize, 64)
    causes = {
        "an element longer than a line also lies in the lines between its two ends": (
            lambda: len({b // 64 for o in offsets for b in (o, o + itemsize - 1)})
        ),
        "lines between elements do not count, only those that an element lies in": (
            lambda: (max(offsets) + itemsize - 1) // 64 - min(offsets) // 64 + 1
        ),
        "only the first byte counts here: an element at byte 60 of 8 bytes touches two lines": (
            lambda: len({o // 64 for o in offsets})
        ),
        "int(offset / 64) rounds toward zero: int(-8 / 64) is 0, and -8 // 64 is -1": (
            lambda: len({int(b / 64) for o in offsets for b in (o, o + itemsize - 1)})
        ),
        "a line counts once, however often it is asked for": lambda: len(offsets),
    }
    case = f"offsets {offsets}, itemsize={itemsize}: {what}"
    hint = "collect line numbers in a set: all from the first byte's line to the last byte's"
    expect_equal(lines_touched(offsets, itemsize), want, likely=causes, hint=hint, case=case)
got = expect_unchanged(lines_touched, np.array([0, 40, 16]), 4, line=16)
expect_equal(got, 3, hint="offsets may be an array, and line= says how long a line is")
expect_raises(ValueError, lines_touched, [0], 4, line=0, hint="check_count for itemsize and line")
expect_raises(TypeError, lines_touched, [0], 4.0, hint="check_count for itemsize and line")

# %% nbgrader={"grade": true, "grade_id": "addresses-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("addresses-hidden")
for x in (np.zeros((3, 5, 2), np.float32), np.zeros((7, 1, 4, 2)), np.zeros(9)):
    for view in (x, x.T, np.flip(x), x[::2], np.broadcast_to(x[:1], x.shape)):
        index = tuple(int(draw.integers(n)) for n in view.shape)
        want = address_spec(view, index)
        hint = "any number of axes, strides of any size and sign"
        expect_equal(byte_offset(strides=view.strides, index=index), want, hint=hint)
hint = "an int, also from NumPy's numbers"
expect_equal(byte_offset((np.int16(3), np.int64(2)), (8, np.int64(4))), 32, hint=hint)
expect_equal(byte_offset((), ()), 0, hint="no axis: the one element lies at 0")
expect_raises(ValueError, byte_offset, (1,), (8, 8), hint="lengths that differ: ValueError")
for line in (16, 64, 128):
    for itemsize in (1, 4, 8, 16, 48, 200):
        for step in (itemsize, itemsize + 3, line, 1):
            offsets = [int(o) for o in draw.integers(-500, 500) + step * draw.permutation(40)]
            want = lines_spec(offsets, itemsize, line)
            hint = "every line between an element's first byte and its last one, each once"
            expect_equal(lines_touched(offsets, itemsize, line), want, hint=hint)
            array = np.array(offsets)
            hint = "offsets may be an array or any iterable; an int comes back"
            expect_equal(lines_touched(array, itemsize, line), want, hint=hint)
hint = "no offsets at all: 0"
expect_equal(lines_touched(np.zeros(0, int), 8), 0, hint=hint)
for bad in (0, -4):
    expect_raises(ValueError, lines_touched, [0], bad, hint="itemsize of 0 or less: ValueError")
    expect_raises(ValueError, lines_touched, [0], 4, bad, hint="a line of 0 or less: ValueError")
for bad in (True, 2.5, "4", None):
    expect_raises(TypeError, lines_touched, [0], bad, hint="itemsize is a whole number")
    expect_raises(TypeError, lines_touched, [0], 4, bad, hint="line is a whole number")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import compare


def add_to_every(x, step):
    """Add 1 to x[0], x[step], x[2*step], ..."""
    x[::step] += 1


big = np.zeros(2**24, np.float32)
steps = (1, 2, 4, 8, 16, 32, 64, 128)
calls = {f"step {step}": partial(add_to_every, big, step) for step in steps}
timed = compare(rounds=5, **calls)
times = [timed[name].median for name in calls]
print(f"x[::step] += 1 on {size_text(big.nbytes)}    elements    lines       time")
for step, seconds in zip(steps, times):
    touched = big.size // step
    lines = big.nbytes // 64 // max(1, step // 16)
    print(f"step {step:4}{touched:27,}{lines:10,}{seconds * 1e3:9.2f} ms")
few, many = times[steps.index(16)], times[steps.index(4)]
print(
    f"Every fourth number and every sixteenth: {big.size // 4:,} elements and {big.size // 16:,},\n"
    f"in the same {big.nbytes // 64:,} lines, take {many * 1e3:.2f} and {few * 1e3:.2f} ms: "
    f"{many / few:.2f} to 1 instead of 4 to 1."
)
if plots := new_plots("x[::step] += 1", x="step, in elements of 4 bytes", y="ms"):
    plots[0].semilogx(steps, [1e3 * t for t in times], "o-", color=BLUE, base=2)
    plots[0].set_xticks(steps, steps)
    plots[0].set_ylim(bottom=0)
    plots[0].axvline(16, color=ORANGE, linestyle="--")
    plots[0].text(15.2, 0, "one element a line ", color="0.5", va="bottom", ha="right")
show_plots(
    plots,
    "Time of x[::step] += 1 against the step, one dot for each step from 1 to 128. A dashed line "
    "marks step 16: up to there every line is touched, beyond it lines are left out. The numbers "
    "are those of the table above.",
)

# %% [markdown]
"""
The surprise of this cell: up to a step of 16 you touch ever fewer numbers and pay for all lines all the same. Only when lines are left out can it get cheaper, and on processors that fetch lines in pairs not before 64: step 32 may cost as much as step 16, or even more.

## Exercise 2: An array that tells where you went

How do you know in which order a loop nest walks through memory? You could think. You could also let the array report: a `TracedArray` looks like an array to whoever reads and writes single elements, and tells a function `touch` about every access.

    seen = []
    t = TracedArray(a, touch=lambda *access: seen.append(access))
    t[1, 2]            # seen: [(the address of a[1, 2], False)]
    t[0, 0] = 5.0      # and (the address of a[0, 0], True); a[0, 0] is 5.0 now

The address of element `[0, 0]` is the `base` that you give. All others follow from the strides of the array, *whatever they are*: a transposed or reversed view has its elements at the same places as the array it was made from.

What Python does for arrays, you have to do here: `t[-1]` is the last element, an index out of range is an `IndexError`. And whoever asks for a slice wants many elements in one go; there is no single address for that, so it is a `TypeError`. Types come first: `t[9, 0:2]` is a `TypeError` even where 9 is out of range.

The constructor and the attributes are given. They are what the doors of 02 and 03 ask for, so every kernel that works element by element takes a `TracedArray` as it is.

**Predict.** `a` is a 3 x 4 array of float64 in C order, `t = TracedArray(a.T, base=1000)`. At which addresses lie `t[1, 0]`, `t[0, 1]` and `t[-1, -1]`?
"""


# %% nbgrader={"grade": false, "grade_id": "traced_array", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
class TracedArray:
    """An array that reports the address of each element it is asked for.

    array : with one axis or more, any stride; writes reach it
    base  : address of its element [0, 0, ...]
    touch : called as touch(address, is_write) once for each access; None: nobody is told

    Elements are read as `t[i, j]` and written as `t[i, j] = value`, with one whole number for each
    axis (`t[i]` where there is one axis). Negative ones count from the end.
    raises IndexError for an index out of range; TypeError for slices and for anything else but
        one whole number for each axis, which wins over IndexError. Then nothing is touched

    A whole number is what operator.index takes: NumPy's are whole numbers, 1.0 is none. True is 1
    there, as in a list; no test asks for it.

    >>> t = TracedArray(np.array([[1.0, 2.0], [3.0, 4.0]]), touch=print)
    >>> float(t[1, 0])
    16 False
    3.0
    """

    def __init__(self, array, base=0, touch=None):
        self.array, self.base, self.touch = array, base, touch
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self.ndim, self.size, self.flags = array.ndim, array.size, array.flags

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        """Report a read of the element, and return it as the array does."""
        # Hint: self._found does the work for both. 1 line here, 1 in __setitem__, 12 in _found.
        ### BEGIN SOLUTION
        return self.array[self._found(index, False)]
        ### END SOLUTION

    def __setitem__(self, index, value):
        """Report a write of the element, and write it into the array."""
        ### BEGIN SOLUTION
        self.array[self._found(index, True)] = value
        ### END SOLUTION

    def _found(self, index, is_write):
        """The index as a tuple of numbers from 0 on, after telling `touch` its address."""
        # Hint: t[i] hands in i itself, t[i, j] a tuple. operator.index(i) raises TypeError for
        #   what is no whole number. You have byte_offset.
        ### BEGIN SOLUTION
        if not isinstance(index, tuple):
            index = (index,)
        if self.ndim != len(index):
            raise TypeError(f"{self.ndim} axes need {self.ndim} numbers, not {index}")
        index = tuple(map(operator.index, index))
        for i, n in zip(index, self.shape):
            if i >= n or i < -n:
                raise IndexError(f"{i} lies outside an axis of {n}")
        index = tuple(i % n for i, n in zip(index, self.shape))
        if self.touch is not None:
            self.touch(self.base + byte_offset(index, self.strides), is_write)
        return index
        ### END SOLUTION


# %% jupyter={"source_hidden": true}
# Given: reading and writing as functions, for the tests.
def read(t, *index):
    """t[i, j, ...], or t[i] for one number."""
    return t[index if len(index) > 1 else index[0]]


def write(t, value, *index):
    """t[i, j, ...] = value, or t[i] = value for one number."""
    t[index if len(index) > 1 else index[0]] = value


# %% nbgrader={"grade": true, "grade_id": "traced_array-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
seen = []


def note(address, is_write):
    seen.append((address, is_write))


x = ramp(3, 4)
for name, view in (
    ("C order", x),
    ("a transposed view", x.T),
    ("every second column", x[:, ::2]),
    ("a reversed view", x[::-1, ::-1]),
):
    t = TracedArray(view, 1000, note)
    (m, n), (down, right) = view.shape, view.strides
    for i, j in ((0, 0), (m - 1, 1), (1, n - 1), (-1, -1), (-m, 0)):
        want = view[i, j], 1000 + address_spec(view, (i % m, j % n))
        seen.clear()
        value = t[i, j]
        hint = "t[i, j] is the element as the array gives it: self.array[index]"
        expect_equal((t, value)[1], want[0], hint=hint, case=f"t[{i}, {j}], {name}")
        calls = len(seen)
        hint = "each read calls touch(address, False) once"
        expect_equal((t, calls)[1], 1, hint=hint, case=f"calls of touch for t[{i}, {j}]")
        wrapped = (i % m, j % n)
        causes = {
            "a negative index counts from the end: -1 is n - 1, and its address is there": lambda: (
                1000 + i * down + j * right
            ),
            "the base is missing": lambda: want[1] - 1000,
            "strides are bytes already: do not multiply by the itemsize": lambda: (
                1000 + 8 * (want[1] - 1000)
            ),
            "that is right for C order only: take the address from the strides": lambda: (
                1000 + 8 * (wrapped[0] * n + wrapped[1])
            ),
        }
        case = f"address of t[{i}, {j}], {name}, strides {view.strides}, base 1000"
        address = seen[0][0]
        hint = "base + byte_offset(index, strides), with the index counted from the front"
        expect_equal((t, address)[1], want[1], likely=causes, hint=hint, case=case)
        if seen[0][1] is not False:
            raise CheckFailed(
                f"TracedArray  t[{i}, {j}] is a read, and touch was told is_write={seen[0][1]!r}\n"
                "  try       __getitem__ reports False, __setitem__ True"
            )
t = TracedArray(x.copy(), touch=note)
seen.clear()
t[0, 1] = 5.0
if [is_write for _, is_write in seen] != [True]:
    raise CheckFailed(
        f"TracedArray  t[0, 1] = 5.0 told touch is_write: {[w for _, w in seen]}, expected [True]\n"
        "  likely    is_write was False on a[0, 1] = 5: a write is reported as a read\n"
        "  try       __getitem__ reports False, __setitem__ True, once each"
    )
want = x.copy()
want[0, 1] = 5.0
expect_equal(t[0, 1], np.float64(5.0), hint="what was written is read again")
expect_equal(t.array, want, hint="writes reach the array: self.array[index] = value")
line = TracedArray(ramp(5))
try:
    got = line[-2]
except (TypeError, IndexError) as error:
    raise CheckFailed(
        f"TracedArray  t[-2] of a vector of 5 raised {type(error).__name__}: {error}\n"
        "  try       t[i] hands in a number, and no tuple: make it (i,); a negative one counts from "
        "the end"
    ) from None
expect_equal((line, got)[1], ramp(5)[3], hint="t[i] hands in a number; touch may be None")
seen.clear()
for index in ((3, 0), (0, 4), (-4, 0), (0, -5)):
    hint = "an index out of range is an IndexError: -n <= i < n"
    expect_raises(IndexError, read, t, *index, hint=hint)
    expect_raises(IndexError, write, t, 1.0, *index, hint=hint)
for index in ((slice(0, 2), 0), (0, slice(None)), (9, slice(0, 2)), (1,), (0.0, 1)):
    hint = "one whole number for each axis, or TypeError: a slice has no single address"
    expect_raises(TypeError, read, t, *index, hint=hint)
    expect_raises(TypeError, write, t, 1.0, *index, hint=hint)
if seen:
    raise CheckFailed(
        f"TracedArray  an index that is refused was told to touch, at address {seen[0][0]}\n"
        "  try       look at every index first: -n <= i < n, and then touch"
    )

# %% nbgrader={"grade": true, "grade_id": "traced_array-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("traced_array-hidden")
seen = []


def note(address, is_write):
    seen.append((address, is_write))


for kind, shape in (("f4", (7,)), ("f8", (4, 5)), ("f4", (3, 2, 4))):
    x = draw.standard_normal(shape).astype(kind)
    views = [*layouts(x), ("strides of 0", np.broadcast_to(x[:1], shape))]
    for name, view in views:
        base = int(draw.integers(2**40))
        t = TracedArray(array=view, touch=note, base=base)
        for _ in range(3):
            index = tuple(int(draw.integers(-n, n)) for n in shape)
            front = tuple(i % n for i, n in zip(index, shape))
            want = view[index], base + address_spec(view, front)
            seen.clear()
            value = read(t, *index)
            hint = f"the element, in any layout: {name}; the index may be negative"
            expect_equal(value, want[0], hint=hint)
            told = list(seen)
            hint = f"one touch a read, with base, strides and False; {name}"
            expect_equal((value, told)[1], [(want[1], False)], hint=hint)
for view in (x.copy(), x.T.copy().T, np.asfortranarray(x), x.copy()[:, ::-1]):
    want, told_want = view.copy(), []
    t = TracedArray(view, 64, note)
    seen.clear()
    for k in range(3):
        index = tuple(int(draw.integers(-n, n)) for n in view.shape)
        front = tuple(i % n for i, n in zip(index, view.shape))
        want[index] = k
        told_want.append((64 + address_spec(view, front), True))
        write(t, k, *index)
    told = list(seen)
    got = t.array
    expect_equal(got, want, hint="writes reach the array, at negative indices too")
    hint = "one touch a write, with its address and True"
    expect_equal((got, told)[1], told_want, hint=hint)
x = draw.standard_normal((3, 5))
t = TracedArray(x, touch=note)
seen.clear()
for index in ((3, 0), (0, 5), (-4, 1), (1, -6)):
    expect_raises(IndexError, read, t, *index, hint="out of range on either side: IndexError")
    expect_raises(IndexError, write, t, 0.0, *index, hint="out of range on either side: IndexError")
for index in ((0,), (slice(1, 2), slice(0, 1)), ([0, 1], 0), (None, 0), ("0", 1)):
    hint = "slices, lists, too few numbers: TypeError"
    expect_raises(TypeError, read, t, *index, hint=hint)
    expect_raises(TypeError, write, t, 0.0, *index, hint=hint)
try:
    value = t[np.int64(1), np.int32(-1)]
except TypeError:
    value = None
expect_equal(value, x[1, -1], hint="NumPy's whole numbers are whole numbers")
told = list(seen)
hint = "touch hears of accesses that happen, not of refused ones"
expect_equal((value, told)[1], [(address_spec(x, (1, 4)), False)], hint=hint)
facts = (t.shape, t.ndim, t.size, t.strides, str(t.dtype), len(t))
hint = "the attributes that were given are still there"
expect_equal(facts, ((3, 5), 2, 15, (40, 8), "float64", 3), hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
walks = {
    "by rows": [(i, j) for i in range(6) for j in range(32)],
    "by columns": [(i, j) for j in range(32) for i in range(6)],
}
plots = new_plots(*walks, x="access", y="byte address", size=(7.5, 3.2))
try:
    for position, (name, order) in enumerate(walks.items()):
        addresses = []
        t = TracedArray(
            np.zeros((6, 32), np.float32), touch=lambda address, _: addresses.append(address)
        )
        for index in order:
            t[index]
        first = lines_touched(addresses[:32], 4)
        print(f"{name:11} the first 32 accesses touch {first} lines: {addresses[:5]} ...")
        if plots:
            lines = [address // 64 for address in addresses]
            changes = sum(a != b for a, b in pairwise(lines))
            print(f"{'':11} {changes} of {len(lines) - 1} steps lead into another line")
            colours = [(BLUE, ORANGE, GREEN)[line % 3] for line in lines]
            plots[position].scatter(range(len(addresses)), addresses, s=7, c=colours)
            plots[position].set_yticks(range(0, 769, 128))
except NotImplementedError:
    print("left out: TracedArray or lines_touched is not written yet")
else:
    show_plots(
        plots,
        "Addresses of the 192 elements of a 6 x 32 array in the order of two walks, coloured by "
        "line. By rows they are one rising line, 16 dots of a colour at a time. By columns they "
        "are 32 steep climbs of six dots, 128 bytes from one to the next; after the sixth it "
        "goes back to row 0. Every step leads into another line.",
    )

# %% [markdown]
"""
## Exercise 3: A cache, in a dozen lines

A cache of 32 KiB (1 KiB is 1024 bytes) has room for 512 lines. Where is line 70,000? Looking at all 512 places for every access would take too long, so a line may lie in few places only: the cache is divided into *sets* of some *ways* each, and a line may lie in one set alone,

    set = line number modulo the number of sets

Think of a chest of drawers. Each set is a drawer with room for `ways` lines. If the line is in its drawer, that is a *hit*. If not, it is a *miss*: the line is fetched and put into its drawer, and if the drawer is full, the line in it that was not used for the longest time goes (LRU, *least recently used*). It goes although all the other drawers may be empty.

<img alt="Four drawers with room for two lines each. Lines 0 to 7 lie in drawers 0, 1, 2, 3, 0, 1, 2, 3 and fill all of them. Beside it the same four drawers and lines 0, 4, 8 and 12: all four belong into drawer 0, which holds two of them, while the other three drawers are empty." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='214' viewBox='0 0 640 214' font-family='sans-serif' font-size='14'><title>Eight lines, and four lines, in four sets of two ways</title>
<path d='M63 47h52v22h-52zM121 47h52v22h-52zM63 81h52v22h-52zM121 81h52v22h-52zM63 115h52v22h-52zM121 115h52v22h-52zM63 149h52v22h-52zM121 149h52v22h-52z' fill='rgb(86,180,233)'/><path d='M60 44h116v28h-116zM60 78h116v28h-116zM60 112h116v28h-116zM60 146h116v28h-116z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/><text x='50' y='63' text-anchor='end' fill='rgb(125,125,125)'>set 0</text><text x='89' y='63' text-anchor='middle' fill='black'>0</text><text x='147' y='63' text-anchor='middle' fill='black'>4</text><text x='50' y='97' text-anchor='end' fill='rgb(125,125,125)'>set 1</text><text x='89' y='97' text-anchor='middle' fill='black'>1</text><text x='147' y='97' text-anchor='middle' fill='black'>5</text><text x='50' y='131' text-anchor='end' fill='rgb(125,125,125)'>set 2</text><text x='89' y='131' text-anchor='middle' fill='black'>2</text><text x='147' y='131' text-anchor='middle' fill='black'>6</text><text x='50' y='165' text-anchor='end' fill='rgb(125,125,125)'>set 3</text><text x='89' y='165' text-anchor='middle' fill='black'>3</text><text x='147' y='165' text-anchor='middle' fill='black'>7</text><text x='60' y='30' fill='rgb(125,125,125)'>lines 0 1 2 3 4 5 6 7</text>
<path d='M303 47h52v22h-52zM361 47h52v22h-52z' fill='rgb(230,159,0)'/><path d='M300 44h116v28h-116zM300 78h116v28h-116zM300 112h116v28h-116zM300 146h116v28h-116z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/><text x='290' y='63' text-anchor='end' fill='rgb(125,125,125)'>set 0</text><text x='329' y='63' text-anchor='middle' fill='black'>8</text><text x='387' y='63' text-anchor='middle' fill='black'>12</text><text x='290' y='97' text-anchor='end' fill='rgb(125,125,125)'>set 1</text><text x='290' y='131' text-anchor='end' fill='rgb(125,125,125)'>set 2</text><text x='290' y='165' text-anchor='end' fill='rgb(125,125,125)'>set 3</text><text x='300' y='30' fill='rgb(125,125,125)'>lines 0 4 8 12</text>
<g fill='rgb(125,125,125)'><text x='430' y='63'>0 and 4 had to go</text><text x='430' y='97'>empty</text><text x='430' y='131'>empty</text><text x='430' y='165'>empty</text><text x='60' y='202'>the cache is full</text><text x='300' y='202'>a quarter of it is in use</text></g>
</svg>">

Real caches work like this, with 8 to 16 ways as a rule. What your class leaves out you will say at the end, in the third question.

**Predict.** A cache of two ways and one set is empty. A program asks for lines 0 1 0 2 0 1. Which of the six accesses hit? And which would hit if the line that *came* first had to go, and not the one that was *used* longest ago?
"""


# %% jupyter={"source_hidden": true}
# Given: traces worked by hand, as (what they show, cache, addresses, hits, {mistake: its hits}).
Y, N = True, False
TRACES = (
    (
        "one set of two lines, lines 0 1 0 2 0 1",
        dict(size=128, line=64, ways=2),
        [0, 64, 0, 128, 0, 64],
        [N, N, Y, N, Y, N],
        {
            "a hit makes the line young again: line 1 had to go for line 2, not line 0": (
                [N, N, Y, N, N, N]
            ),
            "LRU throws out the line unused for the longest time, not the newest": (
                [N, N, Y, N, N, Y]
            ),
            "line 1 is still there: a set holds `ways` lines, and there are size // (line * ways) "
            "sets": [N, N, Y, N, Y, Y],
        },
    ),
    (
        "one line, a word at a time, then the next line",
        dict(size=256, line=64, ways=4),
        [0, 4, 60, 64, 127, 0],
        [N, Y, Y, N, Y, Y],
        {
            "the addresses themselves were kept: the number of a line is address // line": (
                [N, N, N, N, N, N]
            ),
        },
    ),
    (
        "four sets of one line; 0 and 256 share set 0",
        dict(size=256, line=64, ways=1),
        [0, 64, 256, 0, 320, 64],
        [N, N, N, N, N, N],
        {
            "one set for all: a stride of size / ways bytes must collide": [N, N, N, Y, N, Y],
            "one set for all, with room for no more than `ways` lines in all": [N, N, N, N, N, N],
        },
    ),
    (
        "four sets of one line, two words of each line",
        dict(size=256, line=64, ways=1),
        [0, 1, 65, 0, 64, 190],
        [N, Y, N, Y, Y, N],
        {
            "the set follows from the line number: address // line first, then modulo sets": (
                [N, N, N, Y, N, N]
            ),
            "one set for all lines: the set is the line number modulo the number of sets, and each "
            "set has a list of its own ([[]] * sets is the same list each time)": (
                [N, Y, N, N, N, N]
            ),
        },
    ),
    (
        "three sets of two lines of 16 bytes",
        dict(size=96, line=16, ways=2),
        [0, 48, 96, 0, 16, 50, 97, 20],
        [N, N, N, N, N, N, N, Y],
        {
            "size / line sets: each set holds `ways` lines, so there are size // (line * ways)": (
                [N, N, N, Y, N, Y, Y, Y]
            ),
        },
    ),
)


def hits_spec(addresses, size, line, ways):
    """Hit or miss of each access, from the grader's own model: does it add a miss to the trace?"""
    misses = [
        cache_misses(addresses[:n], size=size, line=line, ways=ways)
        for n in range(len(addresses) + 1)
    ]
    return [after == before for before, after in pairwise(misses)]


# %% nbgrader={"grade": false, "grade_id": "cache_simulator", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
class CacheSimulator:
    """A set-associative cache with LRU: which accesses hit?

    size : bytes; a multiple of line * ways
    line : bytes of a line
    ways : lines in a set
    raises TypeError and ValueError as check_count, ValueError also for a size that is no multiple

    The line of an address is address // line, and its set that number modulo the number of sets.
    A miss fetches the line; if its set is full, the line in it that was used longest ago goes.
    Reads and writes are alike. The cache is empty at first. Addresses are 0 or more;
    nothing is promised for negative ones, and no test has any.

    hits, misses : accesses of either kind since the last reset, ints

    Sets and replacement: J. L. Hennessy, D. A. Patterson, Computer Architecture, appendix B.

    >>> cache = CacheSimulator(size=128, line=64, ways=2)
    >>> cache.run([0, 8, 64, 128, 0]), cache.hits, cache.misses
    ([False, True, False, False, False], 1, 4)
    """

    def __init__(self, size, line, ways):
        # Hint: divmod gives the number of sets and what is left; end with self.reset().
        #   4 lines here, 2 in reset, 10 in access.
        ### BEGIN SOLUTION
        self.line, self.ways = check_count("line", line), check_count("ways", ways)
        self.sets, rest = divmod(check_count("size", size), self.line * self.ways)
        if rest:
            raise ValueError(f"{size} bytes are no multiple of {ways} lines of {line} bytes")
        self.reset()
        ### END SOLUTION

    def reset(self):
        """Empty the cache and begin to count anew."""
        ### BEGIN SOLUTION
        self.hits = self.misses = 0
        self._lines = [[] for _ in range(self.sets)]
        ### END SOLUTION

    def access(self, address):
        """Look up one address in bytes, from 0 on. Returns True for a hit, False for a miss."""
        # Hint: keep the lines of each set in a list, in the order in which they were used.
        ### BEGIN SOLUTION
        number = address // self.line
        lines = self._lines[number % self.sets]
        hit = number in lines
        if hit:
            self.hits += 1
            lines.remove(number)
        else:
            self.misses += 1
            if len(lines) == self.ways:
                lines.pop(0)
        lines.append(number)
        return hit
        ### END SOLUTION

    def run(self, addresses):
        """Hit or miss of each access, one after the other: a list of bools."""
        return [self.access(int(address)) for address in addresses]


# %% nbgrader={"grade": true, "grade_id": "cache_simulator-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for what, cache, addresses, want, mistakes in TRACES:
    simulator = CacheSimulator(**cache)
    got = simulator.run(addresses)
    causes = {cause: lambda hits=hits: hits for cause, hits in mistakes.items()}
    case = f"{what}: {', '.join(f'{key}={value}' for key, value in cache.items())}"
    hint = "line number, then its set, then LRU in that set; access returns True or False"
    expect_equal(got, want, likely=causes, hint=hint, case=case)
    counted = simulator.hits, simulator.misses
    hint = "each access is one hit or one miss: count it"
    expect_equal((got, counted)[1], (sum(want), len(want) - sum(want)), hint=hint, case=case)
simulator = CacheSimulator(128, 64, 2)
hits = [simulator.access(address) for address in (0, 63, 64)]
expect_equal(hits, [False, True, False], hint="access returns True for a hit, False for a miss")
simulator.reset()
got = (simulator.access(0), simulator.hits, simulator.misses)
expect_equal(got, (False, 0, 1), hint="reset() empties the cache and sets both counts to 0")
addresses = [64 * k for k in (0, 1, 2, 3, 4, 5, 0, 1, 6, 2, 3, 0, 7, 5, 1, 4, 0)]
for ways, sets in ((1, 4), (2, 2), (4, 1), (2, 3)):
    cache = dict(size=64 * ways * sets, line=64, ways=ways)
    want = hits_spec(addresses, **cache)
    got = CacheSimulator(**cache).run(addresses)
    case = f"{sets} sets of {ways} lines, lines {[a // 64 for a in addresses]}"
    hint = "work this trace by hand, drawer by drawer, up to the first difference"
    expect_equal(got, want, hint=hint, case=case)
for size, line, ways in ((100, 64, 1), (192, 64, 2), (64, 64, 2), (0, 64, 1), (64, 0, 1)):
    hint = "size must be a multiple of line * ways, and all three at least 1"
    expect_raises(ValueError, CacheSimulator, size, line, ways, hint=hint)
for size, line, ways in ((128.0, 64, 2), (128, 64, True)):
    expect_raises(TypeError, CacheSimulator, size, line, ways, hint="check_count for all three")

# %% nbgrader={"grade": true, "grade_id": "cache_simulator-hidden", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 3 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("cache_simulator-hidden")


def some_trace(line, length, span):
    """Addresses that often come back: walks with a stride, and jumps."""
    start, step = (int(n) for n in draw.integers(1, span * line, 2))
    walk = [(start + k * step) % (span * line) for k in range(length // 2)]
    jumps = [int(a) for a in draw.integers(span * line, size=length - len(walk))]
    return walk + jumps[: length // 4] + walk[: length // 4] + jumps[length // 4 :]


for ways in (1, 2, 3, 4, 8):
    for sets in (1, 2, 3, 5, 8):
        for line in (16, 48, 64):
            cache = dict(size=line * ways * sets, line=line, ways=ways)
            addresses = some_trace(line, 40, 2 * ways * sets + 1)
            want = hits_spec(addresses, **cache)
            got = CacheSimulator(**cache).run(addresses)
            hint = "any number of sets and ways: one set, one way, no power of two"
            expect_equal(got, want, hint=hint)
for ways, sets, line in ((2, 8, 64), (16, 1, 32), (1, 16, 64), (4, 7, 16)):
    cache = dict(line=line, ways=ways, size=line * ways * sets)
    simulator = CacheSimulator(**cache)
    for _ in range(2):
        addresses = some_trace(line, 600, 2 * ways * sets)
        want = cache_misses(addresses, **cache)
        got = len(simulator.run(addresses)), simulator.hits, simulator.misses
        hint = "long traces, and reset() in between: nothing is left of the first one"
        length = len(addresses)
        expect_equal(got, (length, length - want, want), hint=hint)
        simulator.reset()
far = [2**40 - 64, 2**40, 2**40 + 8, 2**40 - 1, 2**40 + 4096, 2**40, 0, 2**32, 0, 2**31]
want = hits_spec(far, 4096, 64, 1)
expect_equal(CacheSimulator(4096, 64, 1).run(far), want, hint="addresses up to 2**40 and beyond")
first, second = CacheSimulator(128, 64, 2), CacheSimulator(128, 64, 2)
first.run([0, 64])
got = second.run([0, 64, 0]), second.hits, second.misses, first.misses
hint = "two caches know nothing of each other"
expect_equal(got, ([False, False, True], 1, 2, 2), hint=hint)
for size, line, ways in ((63, 64, 1), (128, 48, 1), (-64, 64, 1), (64, -64, 1), (64, 64, 0)):
    expect_raises(ValueError, CacheSimulator, size, line, ways, hint="sizes that do not fit")
for size, line, ways in ((64, 64.0, 1), (None, 64, 1), (64, "64", 1), (True, 1, 1), (64, 64, 1.0)):
    expect_raises(TypeError, CacheSimulator, size, line, ways, hint="whole numbers only")
expect_equal(CacheSimulator(np.int64(64), 32, 2).run([0, 32, 0]), [N, N, Y], hint="NumPy's ints")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
walks = {
    "row walk": [256 * i + 4 * j for i in range(64) for j in range(64)],
    "column walk": [256 * i + 4 * j for j in range(64) for i in range(64)],
    "column walk, longer rows": [320 * i + 4 * j for j in range(64) for i in range(64)],
}
plots = new_plots(*walks, x="column", y="row", size=(9, 3.4))
print("a 64 x 64 float32 array in a cache of 4096 bytes, 8 ways      misses of 4,096 accesses")
try:
    for position, (name, addresses) in enumerate(walks.items()):
        simulator = CacheSimulator(4096, 64, 8)
        hits = np.array(simulator.run(addresses)).reshape(64, 64)
        print(f"{name:60}{simulator.misses:8,}")
        if plots:
            picture = hits if position == 0 else hits.T
            from matplotlib.colors import ListedColormap

            colours = ListedColormap([ORANGE, BLUE])
            plots[position].imshow(picture, cmap=colours, vmin=0, vmax=1, interpolation="nearest")
except NotImplementedError:
    print("left out: CacheSimulator is not written yet")
else:
    print("In the pictures orange is a miss, blue a hit.")
    show_plots(
        plots,
        "Three maps of a 64 x 64 array, a hit blue and a miss orange. Row walk: every 16th column is "
        "orange, the rest blue. Column walk: all orange. Column walk with longer rows: every 16th "
        "column is orange again.",
    )

# %% [markdown]
"""
Each line of the array should be fetched once, 256 times in all. The column walk fetches each of them sixteen times, once for every number in it: all 64 rows of a column fall into very few drawers. With rows that are one line longer the same walk is as good as the row walk.

## Exercise 4: Two reductions and a transpose

Three loop nests whose results you could get from NumPy in one line each. What counts here is the *order* in which they go through memory, so here they are written element by element:

- `sum_by_rows` reads row after row, each from left to right;
- `sum_by_columns` reads column after column, each from top to bottom;
- `transpose_loops` cannot have it both ways. One side is walked along the rows, and then the other is walked down the columns. The contract says: *read* along the rows, *write* down the columns.

Sums are added up in float64, `float(a[i, j])`, and rounded once at the end. Library sums, products and transposes (`.sum()`, `np.sum`, `math.fsum`, `@`, `np.dot`, `.T`, `np.transpose` and their kin) are off limits.

The last test cells hand in arrays that write down the address of each access, like your `TracedArray`. They belong to the tests, so they count whether or not exercise 2 is done. The visible cell looks at the two sums; **the order of `transpose_loops` is checked after hand-in only**, so look at it yourself: hand in a `TracedArray`, and another one as `out`, and print what they report.

**Predict.** For a 5 x 7 array of float32 that begins at address 0, write down the first four addresses that `sum_by_columns` reads. Then those that `transpose_loops` writes into its 7 x 5 result, which begins at 0 as well.
"""


# %% jupyter={"source_hidden": true}
# Given: the specifications, and what the tests say about an order.
def sums_spec(a, axis):
    """The sums along an axis, each exact before it is rounded to a's dtype."""
    lines = a.tolist() if axis == 1 else [a[:, j].tolist() for j in range(a.shape[1])]
    return np.array([math.fsum(line) for line in lines], a.dtype)


def transpose_spec(a):
    """The transpose, from a dictionary of its elements."""
    elements = {(j, i): a[i, j] for i, j in np.ndindex(*a.shape)}
    result = np.zeros((a.shape[1], a.shape[0]), a.dtype)
    for place, value in elements.items():
        result[place] = value
    return result


def walk_spec(rows, cols, order, itemsize=4, row_bytes=None):
    """The addresses of a rows x cols array, at 0, in one of the two orders."""
    row_bytes = row_bytes or cols * itemsize
    table = row_bytes * np.arange(rows)[:, None] + itemsize * np.arange(cols)
    return (table if order == "rows" else table.T).ravel().tolist()


def order_fault(what, found, rows, cols, order):
    """What is wrong with the order in which a rows x cols array was walked; None if nothing is."""
    want = walk_spec(rows, cols, order)
    if found == want:
        return None
    other = walk_spec(rows, cols, "columns" if order == "rows" else "rows")
    if found == other:
        why = "that is the other order: the outer loop and the inner loop have to change places"
    elif sorted(found) == sorted(want):
        why = "every element once, but in another order"
    else:
        why = f"{len(found)} accesses for {rows * cols} elements: each element once"
    shown = " ".join(map(str, found[:4])), " ".join(map(str, want[:4]))
    return f"{what}: addresses go {shown[0]} ..., expected {shown[1]} ...\n  likely    {why}"


# %% nbgrader={"grade": false, "grade_id": "walks", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, reductions, transpose, spec
def sum_by_rows(a):
    """The sum of each row, read row after row.

        s[i] = a[i, 0] + a[i, 1] + ...

    a : (m, n) float32 or float64, any stride; not modified
    returns (m,) of a's dtype, a new array: sums in float64, rounded once; n = 0 gives zeros
    raises TypeError and ValueError as check_float_array

    Reads a[0, 0], a[0, 1], ..., a[1, 0], ...: every element once.

    >>> sum_by_rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([3., 7.])
    """
    # Hint: about 8 lines.
    ### BEGIN SOLUTION
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(m, a.dtype)
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += float(a[i, j])
        sums[i] = total
    return sums
    ### END SOLUTION


def sum_by_columns(a):
    """The sum of each column, read column after column.

        s[j] = a[0, j] + a[1, j] + ...

    a : (m, n) float32 or float64, any stride; not modified
    returns (n,) of a's dtype, a new array: sums in float64, rounded once; m = 0 gives zeros
    raises TypeError and ValueError as check_float_array

    Reads a[0, 0], a[1, 0], ..., a[0, 1], ...: every element once.

    >>> sum_by_columns(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    ### BEGIN SOLUTION
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(n, a.dtype)
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += float(a[i, j])
        sums[j] = total
    return sums
    ### END SOLUTION


def transpose_loops(a, out=None):
    """The transpose, read along the rows and written down the columns.

        out[j, i] = a[i, j]

    a   : (m, n) float32 or float64, any stride; not modified
    out : (n, m) of a's dtype, or None for a new array
    returns out
    raises TypeError and ValueError as check_float_array and check_out

    Reads every element once, row after row, and writes each of out once.

    >>> transpose_loops(np.array([[1.0, 2.0, 3.0]])).shape
    (3, 1)
    """
    # Hint: check_out makes the result, of shape (n, m), where out is None. About 6 lines.
    ### BEGIN SOLUTION
    m, n = check_float_array("a", a, ndim=2)
    out = check_out(out, (n, m), a)
    for i in range(m):
        for j in range(n):
            out[j, i] = a[i, j]
    return out
    ### END SOLUTION


transpose = transpose_loops  # the name that other courses and the benchmarks know it by

# %% nbgrader={"grade": true, "grade_id": "walks-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
tenths = np.full((2, 3000), 0.1, np.float32)
for a in (ramp(4, 4), ramp(5, 7, dtype=np.float32), ramp(1, 6), tenths, ramp(3, 0)):
    for kernel, axis in ((sum_by_rows, 1), (sum_by_columns, 0)):
        if a is tenths and axis == 0:
            continue
        want = sums_spec(a, axis)
        shape = f"a {a.shape} {a.dtype}"
        try:
            got = expect_unchanged(kernel, a)
        except IndexError as error:
            raise CheckFailed(
                f"sums  {shape}: {error}\n"
                "  likely    the extents are swapped: range(m) goes with the first index\n"
                "  try       m, n = a.shape; a[i, j] with i in range(m) and j in range(n)"
            ) from None
        running = np.cumsum(a, axis=axis, dtype=a.dtype)
        causes = {
            "the sum is kept in float32: add up float(a[i, j]), starting from 0.0": lambda: (
                running.take(-1, axis)
            ),
            "these are the sums along the other axis": lambda: sums_spec(a, 1 - axis),
            "the total runs on: it starts at 0.0 for each sum": lambda: np.cumsum(
                want, dtype=a.dtype
            ),
        }
        hint = "one sum for each row, or for each column"
        expect_close(got, want, likely=causes, hint=hint, case=shape, allow_empty=True, scale=4)
for a in (ramp(4, 4, dtype=np.float32), ramp(5, 7), ramp(1, 6), ramp(0, 3)):
    want = transpose_spec(a)
    try:
        got = expect_unchanged(transpose_loops, a)
    except IndexError as error:
        raise CheckFailed(
            f"transpose_loops  a {a.shape}: {error}\n"
            "  likely    the extents are swapped: out has the shape (n, m)\n"
            "  try       out[j, i] = a[i, j] with i in range(m) and j in range(n)"
        ) from None
    causes = {"nothing was transposed: out[j, i] = a[i, j]": lambda: a.copy()}
    hint = "out[j, i] = a[i, j], for every element"
    expect_equal(got, want, likely=causes, hint=hint, allow_empty=True)
a = ramp(2, 3)
want, out = transpose_spec(a), np.full((3, 2), 7.0)
got = transpose_loops(a, out=out)
expect_equal(got is out, True, hint="with out= the result is out itself: return it")
expect_equal(out, want, hint="all of out is filled, whatever stood in it")
expect_raises(ValueError, transpose_loops, a, np.zeros((2, 3)), hint="check_out with (n, m)")
expect_raises(TypeError, sum_by_rows, [[1.0]], hint="begin with check_float_array")

# %% nbgrader={"grade": true, "grade_id": "walks-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("walks-hidden").standard_normal
for shape in ((1, 1), (2, 7), (7, 2), (13, 5), (0, 4), (4, 0), (1, 33), (33, 1)):
    for dtype in (np.float32, np.float64):
        a = normal(shape).astype(dtype)
        for kernel, axis in ((sum_by_rows, 1), (sum_by_columns, 0)):
            want = sums_spec(a, axis)
            scale = np.abs(a).astype(float).sum(axis=axis)
            got = expect_fresh(kernel, a)
            hint = "any size, both dtypes, a new array; an empty sum is 0"
            expect_close(got, want, scale=scale, hint=hint, allow_empty=True)
        want = transpose_spec(a)
        got = expect_fresh(transpose_loops, a)
        expect_equal(got, want, allow_empty=True, hint="any size, both dtypes, a new array")
x = normal((4, 6))
want = sums_spec(x, 1), sums_spec(x, 0), transpose_spec(x)
for name, a in layouts(x):
    hint = f"a may be {name}; leave it as it is"
    expect_close(expect_unchanged(sum_by_rows, a), want[0], inner=6, hint=hint)
    expect_close(expect_unchanged(sum_by_columns, a), want[1], inner=4, hint=hint)
    expect_equal(expect_unchanged(transpose_loops, a), want[2], hint=hint)
large = np.full((5000, 2), 0.1, np.float32)
want = sums_spec(large, 0)
expect_close(sum_by_columns(large), want, hint="sums are kept in float64")
a = np.array([[1, nan, inf], [2, 3, -inf]])
for kernel, want in (
    (sum_by_rows, np.array([nan, -inf])),
    (sum_by_columns, np.array([3.0, nan, nan])),
    (transpose_loops, np.array([[1, 2], [nan, 3], [inf, -inf]])),
):
    expect_close(kernel(a=a), want, hint="NaN and infinity follow the arithmetic")
whole = np.full((12, 8), 7.0)
out, want = whole[::-2, ::2], transpose_spec(x)
got = transpose_loops(out=out, a=x)
expect_equal(got is out, True, hint="with out= the result is out itself, also where it is a view")
expect_equal(out.copy(), want, hint="out may be a view with steps; arguments by name")
expect_equal(whole[:, 1::2], np.full((12, 4), 7.0), hint="what lies between elements of out stays")
square = normal((4, 4))
for out in (square, square.T, np.zeros((4, 4), np.float32), np.zeros((1, 4, 4))):
    expect_raises(ValueError, transpose_loops, square, out, hint="an out that does not fit")
for kernel in (sum_by_rows, sum_by_columns, transpose_loops):
    for bad in (normal(3), normal((2, 2, 2))):
        expect_raises(ValueError, kernel, bad, hint="two axes, or ValueError from the door")
    for bad in (np.arange(4).reshape(2, 2), [[1.0, 2.0]], square.astype(np.float16)):
        expect_raises(TypeError, kernel, bad, hint="float32 or float64, or TypeError from the door")
same = transpose(square)
expect_equal(same, transpose_spec(square), hint="the second name stands for transpose_loops")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "walks-order", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a = ramp(5, 7, dtype=np.float32)
faults = []
for name, kernel, want, order in (
    ("sum_by_rows", sum_by_rows, sums_spec(a, 1), "rows"),
    ("sum_by_columns", sum_by_columns, sums_spec(a, 0), "columns"),
):
    counted = remote_array(a, "a")
    expect_close(kernel(counted), want, inner=7, hint="read a[i, j]: one element at a time")
    faults.append(order_fault(name, trace(counted).addresses.tolist(), 5, 7, order))
if faults[0] is None and faults[1]:
    faults[1] += "; or did you write one order twice? Addresses must not go 0 4 8 in both"
wrong = [fault for fault in faults if fault]
points(Fraction(2 - len(wrong), 2), "\n".join(wrong) or None)

# %% nbgrader={"grade": true, "grade_id": "walks-order-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
m, n = (int(size) for size in rng("walks-order-hidden").integers(3, 9, 2))
a = ramp(m, n + 1, dtype=np.float32)
want = transpose_spec(a)
counted, out = remote_array(a, "a"), remote_array(np.zeros((n + 1, m), np.float32), "out")
got = transpose_loops(a)
expect_equal(got, want, hint="right values first")
got = transpose_loops(counted, out)
expect_equal(got is out, True, hint="with out= the result is out itself: return it")
written = contents(out)
expect_equal(written, want, hint="write out[j, i]: one element at a time")
read_rows = trace(counted).addresses.tolist() == walk_spec(m, n + 1, "rows")
found, down = trace(out), walk_spec(n + 1, m, "columns")
wrote_columns = found.writes.all() and found.addresses.tolist() == down
points(
    1 if read_rows and wrote_columns else 0,
    None
    if read_rows and wrote_columns
    else "transpose_loops reads a along its rows and writes out down its columns, each element "
    "once. Reading down the columns and writing along the rows is also right, but not this contract",
)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import probes, time_call

print("sum of n x n float32          rows       columns   columns/rows")
if probes.missing():
    print(f"left out: {probes.missing()}")
for size in () if probes.missing() else (256, 512, 1024, 2048):
    x = np.ones((size, size), np.float32)
    by_rows = time_call(probes.walk_rows, x, repeats=5).median
    by_columns = time_call(probes.walk_columns, x, repeats=5).median
    print(
        f"compiled loops, n = {size:5}{by_rows * 1e6:9.0f} us{by_columns * 1e6:11.0f} us"
        f"{by_columns / by_rows:11.1f}"
    )
x = ramp(64, 64, dtype=np.float32)
try:
    by_rows, by_columns = (time_call(k, x, repeats=3).median for k in (sum_by_rows, sum_by_columns))
except NotImplementedError:
    print("your loops: left out, not written yet")
else:
    print(
        f"your loops, n = {x.shape[0]:9}{by_rows * 1e6:9.0f} us{by_columns * 1e6:11.0f} us"
        f"{by_columns / by_rows:11.1f}"
    )

# %% [markdown]
"""
The compiled loops come out of a *sealed box*: they are the two loop nests that you have just written, translated into machine instructions (`tito.machine.probes`; a later module opens such boxes). In your Python loops the order hardly shows, for two reasons: one turn of the interpreter costs many times what a hit in the cache costs, and their 64 x 64 numbers are 16 KiB, which fit into the first-level cache of most processors anyway. The faster the code and the larger the array, the more the order decides.

## Exercise 5: How often will it miss?

Now without running anything. Let the cache hold `lines` lines, in any place (one set, LRU), and let the array be contiguous and begin at the beginning of a line.

- *By rows*, each line is fetched when its first number is asked for, used to its end, and never needed again. Every line once.
- *By columns*, a line is needed again one column later, after one line of *each other row* was used. If the lines of a whole column fit, all rows of it, then the line is still there. Then every line is fetched once. If they do not fit, LRU is as bad as can be: it throws out exactly the line that is needed next, and *every access* misses.

There is nothing in between: one row too many, and the walk falls off a cliff.

**Predict.** 100 rows of 64 float32 numbers, lines of 64 bytes. How many misses by columns if the cache holds 100 lines? And if it holds 99?
"""


# %% nbgrader={"grade": false, "grade_id": "predict_misses", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def predict_misses(rows, cols, order, itemsize, line, lines):
    """How often a walk over a whole table of numbers misses, without walking.

    rows, cols : of the table, which is contiguous; its first element begins a line
    order      : "rows" for row after row, "columns" for column after column
    itemsize   : bytes of an element, which divide the line
    line       : bytes of a line; the bytes of a row are a multiple of it
    lines      : how many lines the cache holds: one set, LRU, empty at first
    returns an int
    raises TypeError and ValueError as check_count (rows and cols may be 0), ValueError also for
        another order, and for rows or elements that do not end where a line ends

    >>> predict_misses(10, 32, "columns", itemsize=4, line=64, lines=12)
    20
    """
    # Hint: arithmetic, no walk. About 10 lines, most of them the door.
    ### BEGIN SOLUTION
    rows, cols = check_count("rows", rows, minimum=0), check_count("cols", cols, minimum=0)
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    lines = check_count("lines", lines)
    if order not in ("rows", "columns"):
        raise ValueError(f'order is "rows" or "columns", not {order!r}')
    if line % itemsize or cols * itemsize % line:
        raise ValueError(f"{cols} elements of {itemsize} bytes do not fill lines of {line} bytes")
    if order == "columns" and rows > lines:
        return rows * cols
    return rows * cols * itemsize // line
    ### END SOLUTION


# %% jupyter={"source_hidden": true}
# Given: the specification. It walks, in the grader's own cache.
def misses_spec(rows, cols, order, itemsize, line, lines):
    """Misses of the walk in a cache of one set with so many lines."""
    addresses = walk_spec(rows, cols, order, itemsize)
    return cache_misses(addresses, size=lines * line, line=line, ways=lines)


# %% nbgrader={"grade": true, "grade_id": "predict_misses-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for rows, cols, itemsize, line in ((1, 16, 4, 64), (6, 32, 4, 64), (5, 8, 8, 32), (12, 16, 2, 16)):
    for lines in (4 * rows, rows + 1, rows, rows - 1, 2, 1):
        if lines < 1:
            continue
        for order in ("rows", "columns"):
            want = misses_spec(rows, cols, order, itemsize, line, lines)
            each, once = rows * cols, rows * cols * itemsize // line
            if order == "rows":
                cause = f"a line brings {line // itemsize} elements: one miss a line, not one each"
            elif rows == lines:
                cause = "rows == lines still fits: only more rows than lines miss every time"
            else:
                cause = (
                    "the lines of one column must fit, one for each row: not the whole array, and "
                    "not counted in bytes (divide the bytes by the line)"
                )
            causes = {
                cause: lambda: each,
                "the column does not fit: each access misses": lambda: once,
                "the misses are those of one column only": lambda: want // cols,
            }
            case = f'{rows} x {cols}, "{order}", itemsize={itemsize}, line={line}, lines={lines}'
            got = predict_misses(rows, cols, order, itemsize, line, lines)
            hint = "rows: every line once; columns: once if rows <= lines, else every access"
            expect_equal(got, want, likely=causes, hint=hint, case=case)
hint = "the bytes of a row must be a multiple of the line, else ValueError"
expect_raises(ValueError, predict_misses, 4, 15, "rows", 4, 64, 8, hint=hint)
hint = 'order is "rows" or "columns", anything else is a ValueError'
expect_raises(ValueError, predict_misses, 4, 16, "both", 4, 64, 8, hint=hint)
expect_raises(ValueError, predict_misses, 4, 16, "rows", 4, 64, 0, hint="check_count for lines")
expect_raises(TypeError, predict_misses, 4, 16.0, "rows", 4, 64, 8, hint="check_count for cols")

# %% nbgrader={"grade": true, "grade_id": "predict_misses-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("predict_misses-hidden")
hint = "any size: one row, one line a row, a cache of one line, a column that just fits"
for _ in range(60):
    itemsize = int(draw.choice([1, 2, 4, 8]))
    line = itemsize * int(draw.integers(1, 9))
    rows, cols = int(draw.integers(1, 14)), line // itemsize * int(draw.integers(1, 4))
    lines = max(1, rows + int(draw.integers(-2, 3)))
    for order in ("rows", "columns"):
        want = misses_spec(rows, cols, order, itemsize, line, lines)
        got = predict_misses(
            lines=lines, line=line, itemsize=itemsize, order=order, cols=cols, rows=rows
        )
        expect_equal(got, want, hint=hint)
for rows, cols, order, want in (
    (10**6, 1024, "columns", 1024 * 10**6),
    (10**6, 1024, "rows", 64 * 10**6),
    (512, 10**6, "columns", 512 * 10**6 // 16),
    (2**53 + 1, 16, "rows", 2**53 + 1),
    (0, 16, "columns", 0),
    (5, 0, "rows", 0),
):
    try:
        got = predict_misses(rows, cols, order, 4, 64, 512)
    except ValueError:
        got = None
    hint = "huge arrays: arithmetic in whole numbers, no walk; no rows or no columns are no error"
    expect_equal(got, want, hint=hint)
got = predict_misses(np.int64(3), 16, "rows", 4, 64, np.int32(8))
expect_equal(got, 3, hint="NumPy's whole numbers are whole numbers")
for rows, cols, itemsize, line in ((3, 24, 4, 64), (3, 8, 48, 64), (2, 2, 128, 64), (2, 1, 4, 64)):
    hint = "rows and elements must end where a line ends, else ValueError"
    for order in ("rows", "columns"):
        expect_raises(ValueError, predict_misses, rows, cols, order, itemsize, line, 4, hint=hint)
good = dict(rows=4, cols=16, order="rows", itemsize=4, line=64, lines=8)
for name, bad in (("rows", -1), ("cols", -16), ("itemsize", 0), ("line", 0), ("lines", 0)):
    hint = "counts below their minimum: ValueError that names the argument"
    expect_raises(ValueError, predict_misses, **{**good, name: bad}, match=name, hint=hint)
    for other in (True, 16.0, "16", None):
        hint = "what is no whole number: TypeError that names the argument"
        expect_raises(TypeError, predict_misses, **{**good, name: other}, match=name, hint=hint)
for order in ("row", "Columns", " rows", 0, None):
    expect_raises(ValueError, predict_misses, **{**good, "order": order}, hint="another order")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import facts, probes, time_call

levels = facts().caches
largest = max([cache.size for cache in levels], default=2**25)
reach = min(max(4 * largest, 2**25), 2**27)
sizes = [2**k for k in range(14, reach.bit_length())]
hops = {size: probes.pointer_chase(size, hops=4000, repeats=3) for size in sizes}
hops = {size: seconds * 1e9 for size, seconds in hops.items() if seconds is not None}
known = ", ".join(f"{cache.name} {size_text(cache.size)}" for cache in levels)
print(f"caches of this machine: {known or 'unknown'}")
if not hops:
    print(f"No pointer chase: {probes.missing()}")
for size, each in hops.items():
    held = [cache.name for cache in levels if size <= cache.size]
    place = f"fits into {held[0]}" if held else "fits into no cache" if levels else ""
    print(f"a chase through {size_text(size):>7}: {each:7.1f} ns a hop   {place}")
if hops:
    low, high = hops[min(hops)], hops[max(hops)]
    print(f"The same instruction takes {high / low:.0f} times as long in the largest ring.")
draw = np.random.default_rng(5)
for size in (2**14, 2**24):
    numbers = np.arange(size // 8)
    shuffled = draw.permutation(numbers)
    forth = time_call(np.take, numbers, numbers, repeats=5).median
    mixed = time_call(np.take, numbers, shuffled, repeats=5).median
    print(
        f"np.take of {size_text(size)}: shuffled takes {mixed / forth:.1f} times as long as in order"
    )
if hops and (plots := new_plots("pointer chase", x="bytes of the ring", y="ns a hop")):
    plots[0].loglog(list(hops), list(hops.values()), "o-", color=BLUE)
    plots[0].set_xticks(sizes[::2], [size_text(size) for size in sizes[::2]], minor=False)
    plots[0].set_xticks([], minor=True)
    plots[0].set_yticks([2, 5, 10, 20, 50, 100, 200], [2, 5, 10, 20, 50, 100, 200])
    plots[0].set_yticks([], minor=True)
    for cache in levels:
        if cache.size <= max(hops):
            plots[0].axvline(cache.size, color=ORANGE, linestyle="--")
            low = min(hops.values())
            plots[0].text(cache.size * 1.06, low, cache.name, color="0.5", va="bottom")
    show_plots(
        plots,
        "Time of one hop against the size of the ring, with the cache sizes of this machine as "
        "dashed lines. A few ns for the smallest rings and far more for the largest; the rise "
        "between them need not have a clear step at each dashed line.",
    )

# %% [markdown]
"""
*What a pointer chase is.* Another sealed box: a ring of places in random order, one in each line, and each place holds the number of the next one. So the processor cannot ask for the next line before the last one has come, and the time of one hop is the whole wait. Do not look for a clean step at each dashed line. Places in random order also jump from page to page (4 KiB of memory as a rule), and where a page lies has to be looked up as well. The processor keeps the latest of these answers in a small cache of their own, the *TLB*; a ring of more pages than it holds waits for them too, long before the outermost cache is full. And that cache is shared with the other cores, on a virtual machine with strangers, and looks smaller than it says. Walking in order is faster than the staircase says, because processors guess where a regular walk goes and fetch ahead; a shuffled `take` cannot be guessed.

## Exercise 6: Waste some memory

Back to the gap. Rows of 2048 float32 numbers are 8192 bytes. From one number of a column to the next it is 128 lines. The number of sets is a power of two as a rule, and 128 shares all its factors with it: of 64 sets the column reaches one, of 1024 it reaches 1024 / 128 = 8. Its lines crowd into very few drawers, while the others stay empty.

Why is *one* line more the cure? 129 is odd, so it has no factor in common with the number of sets, and the column goes through all drawers before it comes back to the first. Two lines more, 130, share the factor 2, and half of the drawers stay empty.

<img alt="Eight drawers, numbered 0 to 7, and the lines of one column of an array with 8 rows. With rows of 8 lines all 8 fall into drawer 0. With rows of 9 lines they fall into drawers 0 to 7, one each." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='172' viewBox='0 0 640 172' font-family='sans-serif' font-size='14'><title>The lines of one column in eight sets</title>
<text x='20' y='24' fill='rgb(125,125,125)'>rows of 8 lines: the column is in lines 0 8 16 24 32 40 48 56</text><path d='M23 39h58v24h-58z' fill='rgb(230,159,0)'/><path d='M20 36h64v30h-64zM90 36h64v30h-64zM160 36h64v30h-64zM230 36h64v30h-64zM300 36h64v30h-64zM370 36h64v30h-64zM440 36h64v30h-64zM510 36h64v30h-64z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/><text x='52' y='56' text-anchor='middle' fill='black'>all 8</text>
<text x='20' y='104' fill='rgb(125,125,125)'>rows of 9 lines: the column is in lines 0 9 18 27 36 45 54 63</text><path d='M23 119h58v24h-58zM93 119h58v24h-58zM163 119h58v24h-58zM233 119h58v24h-58zM303 119h58v24h-58zM373 119h58v24h-58zM443 119h58v24h-58zM513 119h58v24h-58z' fill='rgb(86,180,233)'/><path d='M20 116h64v30h-64zM90 116h64v30h-64zM160 116h64v30h-64zM230 116h64v30h-64zM300 116h64v30h-64zM370 116h64v30h-64zM440 116h64v30h-64zM510 116h64v30h-64z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/><text x='52' y='136' text-anchor='middle' fill='black'>0</text><text x='122' y='136' text-anchor='middle' fill='black'>9</text><text x='192' y='136' text-anchor='middle' fill='black'>18</text><text x='262' y='136' text-anchor='middle' fill='black'>27</text><text x='332' y='136' text-anchor='middle' fill='black'>36</text><text x='402' y='136' text-anchor='middle' fill='black'>45</text><text x='472' y='136' text-anchor='middle' fill='black'>54</text><text x='542' y='136' text-anchor='middle' fill='black'>63</text>
<g fill='rgb(125,125,125)' text-anchor='middle' font-size='12'><text x='52' y='164'>set 0</text><text x='52' y='84'>set 0</text><text x='122' y='164'>set 1</text><text x='122' y='84'>set 1</text><text x='192' y='164'>set 2</text><text x='192' y='84'>set 2</text><text x='262' y='164'>set 3</text><text x='262' y='84'>set 3</text><text x='332' y='164'>set 4</text><text x='332' y='84'>set 4</text><text x='402' y='164'>set 5</text><text x='402' y='84'>set 5</text><text x='472' y='164'>set 6</text><text x='472' y='84'>set 6</text><text x='542' y='164'>set 7</text><text x='542' y='84'>set 7</text></g>
</svg>">

So: copy the array into a wider buffer, and hand out the part of it that holds the numbers. `wide[:, :n]` is a *view*. It has the shape that everybody expects, and strides that nobody sees.

The second function is the smallest in this course and the one that you will use most: how many bytes do some arrays take together? If a kernel goes over them again and again, that is its *working set*, and the first question is in which cache it fits.

**Predict.** Three blocks of 64 x 64 float32 numbers: how many KiB? Three of 256 x 256? Into which of this machine's caches do they fit? The cell at the end reads their sizes.
"""


# %% jupyter={"source_hidden": true}
# Given: what the tests say about memory that was not padded.
def column_misses(view):
    """Misses of a walk down the columns of a matrix, in a cache of 4096 bytes with 8 ways."""
    counted = remote_array(view, "view")
    for j in range(view.shape[1]):
        for i in range(view.shape[0]):
            _ = counted[i, j]
    return cache_misses(counted, size=4096, ways=8)


# %% nbgrader={"grade": false, "grade_id": "padding", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def pad_rows(a, extra):
    """A copy whose rows lie further apart: a view of a wider array.

    a     : (m, n) float32 or float64, any stride; not modified
    extra : elements that each row is longer in memory, 0 or more
    returns (m, n) of a's dtype with a's values; from one row to the next it is n + extra elements,
        and within a row the elements are neighbours
    raises TypeError and ValueError as check_float_array and check_count

    >>> pad_rows(np.ones((2, 3)), extra=5).strides
    (64, 8)
    """
    # Hint: about 5 lines.
    ### BEGIN SOLUTION
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]
    ### END SOLUTION


def working_set(*shapes, itemsize=4):
    """Bytes that blocks of these shapes take together.

    shapes   : one tuple of whole numbers for each block
    itemsize : bytes of an element
    returns an int; no shapes take no bytes
    raises TypeError and ValueError as check_count, for itemsize

    >>> working_set([100, 16], [16], itemsize=8)
    12928
    """
    # Hint: math.prod. About 2 lines.
    ### BEGIN SOLUTION
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "padding-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for shape, extra, dtype in (((3, 4), 2, np.float64), ((4, 4), 16, np.float32), ((2, 5), 0, float)):
    a = ramp(*shape, dtype=dtype)
    want = a.copy()
    (m, n), itemsize = a.shape, a.itemsize
    got = expect_unchanged(pad_rows, a, extra)
    case = f"a {shape} {a.dtype}, extra={extra}"
    if getattr(got, "shape", None) == (m, n + extra) != (m, n):
        raise CheckFailed(
            f"pad_rows  {case}: the result has the shape {got.shape}, expected {shape}\n"
            "  likely    the whole buffer is returned, not a view of the first n columns\n"
            "  try       wide[:, :n]"
        )
    expect_equal(got, want, hint="a view of the first n columns, with the values of a", case=case)
    strides, want = got.strides, ((n + extra) * itemsize, itemsize)
    causes = {
        "the row stride did not change: rows were added, or the result was copied once more": (
            lambda: (n * itemsize, itemsize)
        ),
        "strides are bytes: the row is longer by extra elements": lambda: (
            n * itemsize + extra,
            itemsize,
        ),
    }
    hint = "the buffer has n + extra columns; no copy after the view (np.ascontiguousarray is one)"
    case = f"strides, {case}"
    expect_equal((got, strides)[1], want, likely=causes, hint=hint, case=case)
expect_raises(ValueError, pad_rows, ramp(2, 2), -1, hint="check_count with minimum=0 for extra")
expect_raises(TypeError, pad_rows, ramp(2, 2), 1.0, hint="check_count for extra")
for shapes, itemsize, want in (
    ([(64, 64)] * 3, 4, 49_152),
    ([(256, 256)] * 3, 4, 786_432),
    ([(3, 5), (5,), (2, 3, 4)], 8, 352),
    ([], 4, 0),
):
    got = working_set(*shapes, itemsize=itemsize)
    causes = {
        "these are elements, not bytes": lambda: want // itemsize,
        "only the first array is counted": lambda: itemsize * math.prod(shapes[0]),
        "the sizes along the axes are multiplied, not added": lambda: (
            itemsize * sum(map(sum, shapes))
        ),
    }
    case = f"shapes {shapes}, itemsize={itemsize}"
    hint = "itemsize times the elements of all arrays: math.prod(shape)"
    expect_equal(got, want, likely=causes, hint=hint, case=case)

# %% nbgrader={"grade": true, "grade_id": "padding-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("padding-hidden")
for shape in ((1, 1), (3, 7), (7, 3), (0, 4), (4, 0), (5, 16)):
    for dtype, extra in ((np.float32, 3), (np.float64, 1), (np.float32, 0), (float, np.int64(16))):
        a = draw.standard_normal(shape).astype(dtype)
        want = a.copy()
        got = expect_fresh(pad_rows, a, extra)
        hint = "any size, both dtypes, memory of its own"
        expect_equal(got, want, hint=hint, allow_empty=True)
        strides = got.strides
        hint = "from one row to the next: n + extra elements; within a row neighbours"
        want = ((shape[1] + int(extra)) * a.itemsize, a.itemsize)
        if min(shape) > 1:
            expect_equal((got, strides)[1], want, hint=hint)
x = draw.standard_normal((4, 3))
for name, a in layouts(x):
    got = expect_unchanged(pad_rows, extra=5, a=a)
    expect_equal(got, x, hint=f"a may be {name}; leave it as it is")
    strides = got.strides
    hint = f"the strides do not depend on those of a, which may be {name}"
    expect_equal((got, strides)[1], (64, 8), hint=hint)
for bad in (draw.standard_normal(4), draw.standard_normal((2, 2, 2))):
    expect_raises(ValueError, pad_rows, bad, 1, hint="two axes, or ValueError from the door")
for bad in ([[1.0]], np.arange(4).reshape(2, 2)):
    expect_raises(TypeError, pad_rows, bad, 1, hint="float32 or float64, or TypeError")
for bad in (True, "1", None, 2.0):
    expect_raises(TypeError, pad_rows, x, bad, match="extra", hint="extra is a whole number")
sizes = [tuple(int(n) for n in draw.integers(1500, 2000, k)) for k in (1, 2, 3, 2)]
want = 8 * sum(math.prod(size) for size in sizes)
expect_equal(working_set(*sizes, itemsize=8), want, hint="any number of arrays and axes")
expect_equal(working_set((10**6, 10**6), (7, 0)), 4 * 10**12, hint="4 bytes if not said; exact")
expect_equal(working_set((), (3,), itemsize=2), 8, hint="a shape without axes is one element")
for bad, error in ((0, ValueError), (-4, ValueError), (4.0, TypeError), (True, TypeError)):
    expect_raises(error, working_set, (2, 2), itemsize=bad, hint="check_count for itemsize")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "padding-misses", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a = ramp(64, 64, dtype=np.float32)
want = a.copy()
before = column_misses(a)
padded = pad_rows(a, 16)
expect_equal(padded, want, hint="right values first")
hint = f"the plain array misses {before:,} times; is the padding gone again?"
points(*at_most(column_misses(padded), 256, points=1, unit="misses down the columns", hint=hint))

# %% tags=["raises-exception"]
#| measure
from tito.machine import facts, probes, time_call

levels = facts().caches
try:
    blocks = {edge: working_set(*[(edge, edge)] * 3) for edge in (64, 256)}
except NotImplementedError:
    print("working sets: left out, working_set is not written yet")
    blocks = {}
print("caches of this machine:", ", ".join(map(str, levels)) or "unknown, so nothing is said below")
for edge, nbytes in blocks.items():
    one = working_set((edge, edge))
    print(f"three float32 blocks of {edge} x {edge}: {nbytes:,} bytes, one of them {one:,}")
    for cache in levels:
        fits = "fit" if nbytes <= cache.size else f"do not fit, {cache.size // one} would"
        print(f"    {cache.name} {size_text(cache.size):>8}: {fits}")
try:
    longer = {
        extra: pad_rows(np.ones((2048, 2048), np.float32), extra) for extra in (0, 1, 8, 16, 32)
    }
except NotImplementedError:
    print("padded rows: left out, pad_rows is not written yet")
else:
    if probes.missing():
        print(f"padded rows: {probes.missing()}")
    else:
        print("down the columns of 2048 x 2048 float32, compiled")
        times = {e: time_call(probes.walk_columns, x, repeats=5).median for e, x in longer.items()}
        for extra, seconds in times.items():
            print(
                f"    rows of {2048 + extra} elements {seconds * 1e3:9.2f} ms, "
                f"{times[0] / seconds:5.1f} times as fast as with 2048"
            )

# %% [markdown]
"""
What helps is to leave the few crowded drawers, and one line is not the only way: with half a line, 8 numbers, it is 128.5 lines from row to row, which reach every drawer as well, two rows at a time. On your machine that may be as fast as one line, or faster.
"""

# %% [markdown]
"""
## Use it: the same network, other strides

The network of 02 once more: matrix product, ReLU, matrix product, softmax. Its product walks *down the columns* of the weights. Below it runs as it is, and with weights whose bytes lie the other way round: transposed by your `transpose_loops`, then seen through `.T`, so that the shape and the numbers are the same. Your `TracedArray` and your `CacheSimulator` count what the first layer asks for; not a line of the kernel changes.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import loops
from tito.machine import time_call

draw = np.random.default_rng(2)
plane = draw.uniform(-1, 1, (40, 2))
inside = (plane**2).sum(axis=1) < 0.5
inputs = np.column_stack([plane, np.ones(len(plane)), np.zeros((len(plane), 29))])
first = draw.normal(size=(32, 32))
second = np.linalg.lstsq(np.maximum(inputs @ first, 0), 6.0 * np.eye(2)[inside.astype(int)])[0]


def network(weights):
    """The probability of outside and inside, for each point."""
    hidden = loops.relu_loops(loops.matmul_loops(inputs, weights))
    return loops.softmax_loops(loops.matmul_loops(hidden, second))


try:
    seen = {}
    for name, weights in (
        ("weights as they are", first),
        ("weights turned round", transpose_loops(first).T),
    ):
        answers = network(weights)
        cache = CacheSimulator(2048, 64, 8)
        traced = TracedArray(weights, touch=lambda address, _: cache.access(address))
        product = loops.matmul_loops(inputs, traced)
        expect_close(product, inputs @ weights, inner=32, scale=100)
        seen[name] = answers, cache.misses
        right = 100 * np.mean((answers[:, 1] > 0.5) == inside)
        print(
            f"{name:22} strides {weights.strides!s:10} {cache.misses:8,} misses of "
            f"{cache.hits + cache.misses:,}   right for {right:.0f} % of the points"
        )
    (one, before), (other, after) = seen.values()
    print(
        f"{before / after:.0f} times fewer misses in a cache of 2 KiB; largest difference of the "
        f"answers {np.abs(one - other).max():.1e}"
    )
except NotImplementedError as error:
    print(f"left out: {str(error) or 'not written yet'}")

# %% [markdown]
"""
## Scoreboard

Every walk is compared with its specification before it is timed, and one that is missing or wrong is left out. GB/s count each element once, whichever way it was reached (the transpose reads it and writes it: twice). Two sizes stand in one table, and each rung can only be compared with its own: the three Python loops go over 64 x 64 numbers, 16 KiB, which a first-level cache holds; the compiled walks go over 2048 x 2048, 16 MiB. So the roof of the first three is the interpreter, and that of the walks is the cache, if one holds 16 MiB, or the memory. Below the table stand the misses of the same walks, in a cache of 4 KiB.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, probes, scoreboard

small, large = ramp(64, 64, dtype=np.float32), np.ones((2048, 2048), np.float32)
padded = np.ones((2048, 2064), np.float32)[:, :2048]


def agrees(want):
    """A check for a rung: its result is `want` up to rounding."""
    return partial(expect_close, want=want, inner=64, scale=500.0)


whole = dict(check=partial(expect_close, want=float(large.size), inner=64), nbytes=large.nbytes)
board = scoreboard(
    [
        Rung(
            "sum_by_rows",
            sum_by_rows,
            (small,),
            check=agrees(sums_spec(small, 1)),
            nbytes=small.nbytes,
        ),
        Rung(
            "sum_by_columns",
            sum_by_columns,
            (small,),
            check=agrees(sums_spec(small, 0)),
            nbytes=small.nbytes,
        ),
        Rung(
            "transpose_loops",
            transpose_loops,
            (small,),
            check=agrees(transpose_spec(small)),
            nbytes=2 * small.nbytes,
        ),
        Rung("compiled row walk", probes.walk_rows, (large,), **whole),
        Rung("compiled column walk", probes.walk_columns, (large,), **whole),
        Rung("same, padded rows", probes.walk_columns, (padded,), **whole),
    ],
    rounds=3,
)
print(board)
print("\nmisses per element of 64 x 64 float32, cache of 4 KiB with 8 ways")
for name, order, row_bytes in (
    ("row walk", "rows", 256),
    ("column walk", "columns", 256),
    ("column walk, padded rows", "columns", 320),
):
    addresses = walk_spec(64, 64, order, row_bytes=row_bytes)
    print(f"    {name:26}{cache_misses(addresses, size=4096) / len(addresses):8.4f}")

# %% [markdown]
"""
## Think

Your answers here are read by a person. Three to six sentences each; numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. Which blocks fit where?** Three float32 blocks of 64 x 64, and three of 256 x 256: how many bytes are they, and into which caches of *your* machine do they fit? What else wants a place in that cache, so that you would not plan to fill it to the last line?

### BEGIN SOLUTION
1 point: the arithmetic, 3 * 64 * 64 * 4 = 49,152 bytes (48 KiB) and 3 * 256 * 256 * 4 = 786,432 bytes (768 KiB), compared with sizes read from the own machine and named by level. Bytes mixed with elements: 0 of this point.

1 point: a reason why not all of it is free: other arrays, the stack, instructions in a unified cache, a second thread of the core or other cores in a shared one, sets that fill up before the whole does. One good reason is enough.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. Why can a matrix of 2049 columns be quicker than one of 2048?** Say it with sets, and with numbers of your runs. For which walk is there no difference?

### BEGIN SOLUTION
1 point: down a column the addresses are 8192 bytes apart, which is a multiple of the number of sets times the line (or of a large part of it), so all rows meet in one or few sets and push each other out long before the cache is full; with a longer row the column spreads over many sets. Numbers of the own run (table of exercise 6 or the gap) belong to it.

1 point: the row walk (or any walk in the order of memory) does not care: it uses a line to its end and never returns to it. A point is not given for "2048 is a power of two" without saying what follows from it.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. What does `CacheSimulator` leave out?** Name three things that a real cache or processor does and your class does not, and say for one of them which of your measurements it changed.

### BEGIN SOLUTION
1 point: three of: prefetching (fetching ahead in regular walks), the TLB and pages, more than one level, replacement that is only nearly LRU, writes that cost on their own (write-back, write-allocate), other cores and programs sharing a level, several misses under way at the same time, hashed set numbers in the last level.

1 point: one of them tied to a measurement: e.g. the step experiment or the row walk is faster than the pointer chase says because of prefetching and overlapping misses; 1 extra element helps less or more than one set would say; hops in the largest ring also miss in the TLB; columns of padded rows are still slower than rows.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *The address is right for C order only.* It was computed from the shape. Take the strides: they are bytes, and they know about transposed, reversed and padded arrays.
- *`int(offset / 64)` for `offset // 64`.* The first rounds toward zero, the second down, and they differ for negative offsets.
- *The simulated cache hits too seldom.* A hit has to make its line young again. Or the lines of all sets are kept in one list.
- *Every access misses in the simulator, and nothing hits.* Addresses were compared where line numbers are meant.
- *The loops give an IndexError for 5 x 7 and work for 4 x 4.* Two extents have changed places.
- *The padding is gone.* `np.ascontiguousarray`, `.copy()` or a second `np.array(...)` packed the rows again.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 04` says the same;
- you have compared your predictions with what the cells printed, above all the miss maps and the staircase;
- the three questions have an answer;
- `tito export 04` has written `tinykernels/memory.py`, and you find your own words in it.

## In production

Libraries choose layouts by what you have just counted. BLAS takes a *leading dimension* beside the shape, which is the row stride of `pad_rows`, and copies blocks into buffers of its own so that no stride of the caller's can hurt; a later module does that. Image and video codecs, FFTs and grids in simulations pad their rows away from powers of two. Profilers count misses in hardware (`perf stat -e cache-misses` on Linux), and Cachegrind simulates them as you do, for whole programs.

**References**

- U. Drepper, *What Every Programmer Should Know About Memory*, 2007.
- J. L. Hennessy, D. A. Patterson, *Computer Architecture: A Quantitative Approach*, Morgan Kaufmann, chapter 2 and appendix B.
- M. D. Hill, A. J. Smith, *Evaluating Associativity in CPU Caches*, IEEE Transactions on Computers 38(12), 1989.
- Valgrind manual, chapter *Cachegrind*.

## Next

In a terminal:

    tito test 04       the visible tests, in a process of their own
    tito export 04     your work becomes tinykernels/memory.py
    tito submit 04     the file to hand in

Then module 05: make the walk fit the cache, block by block.
"""

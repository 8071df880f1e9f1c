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
# 05 Blocking: what a tile buys, in misses, and when it buys nothing

| | |
|---|---|
| hours | 3.5 |
| difficulty | 3 of 5 |
| needs | 02_loops, 03_vectorize, 04_memory |
| code goes to | `tinykernels/blocking.py` |
| points | 33 by tests, 6 by hand |

After this module you can

- cut any range into blocks, with an edge that is right for every size;
- transpose a matrix tile by tile, and beat NumPy where its way of doing it goes wrong;
- write a matrix product whose cache misses you can count and predict;
- choose a block size from the size of a cache, and know what that arithmetic leaves out;
- say where blocking pays, where it does not, and where a library has done it already.

Blocks are what the rest of the course is built from: 06 hands them to threads, 07 and 08 cut them down to registers, 11 leaves some of them out.

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
#| default_exp blocking
#| export
import math

import numpy as np

from tinykernels.loops import check_count, check_float_array, check_matmul
from tinykernels.vectorized import check_out

# %% jupyter={"source_hidden": true}
# Given: what the tests and measurements below use.
from functools import partial

from tito.checks import (
    CheckFailed,
    at_most,
    cache_misses,
    claim,
    contents,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_reads,
    expect_unchanged,
    points,
    remote_array,
    rng,
    speed,
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


# What is no block size: the value, and what to say.
BAD_BLOCKS = (
    (0, ValueError, "block 0 loops for ever: ask check_count"),
    (-4, ValueError, "a negative block does nothing at all: ask check_count"),
    (2.0, TypeError, "2.0 is no whole number: ask check_count"),
    (True, TypeError, "True is an int in Python, but no block size: ask check_count"),
    (None, TypeError, "None is no block size: ask check_count"),
)

# The caches on paper that your kernels are counted with, in bytes.
SMALL_CACHE = {"size": 1024, "line": 64, "ways": 8}
PAPER_CACHE = {"size": 2048, "line": 64, "ways": 8}


# %% jupyter={"source_hidden": true}
# Given: plots that read on light and on dark pages.
BLUE, ORANGE, GREEN, RED = "#56B4E9", "#E69F00", "#009E73", "#D55E00"


def new_plots(count, title="", width=7.5, height=3.4):
    """Empty plots side by side; an empty list where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("No plot: matplotlib is not installed. The numbers are printed.")
        return []
    figure = Figure(figsize=(width, height), facecolor="none", layout="constrained")
    figure.suptitle(title, color="0.5", fontsize=11)
    for axes in (plots := list(figure.subplots(1, count, squeeze=False)[0])):
        axes.set_facecolor("none")
        axes.tick_params(which="both", colors="0.5")
        axes.spines[:].set_color("0.5")
    return plots


def labels(axes, x="", y="", title=""):
    axes.set_xlabel(x, color="0.5")
    axes.set_ylabel(y, color="0.5")
    axes.set_title(title, color="0.5", fontsize=10)


def show_plots(plots, alt):
    """Show the plots, with words for those who do not see them."""
    from io import BytesIO

    from IPython.display import Image, display

    png = BytesIO()
    plots[0].figure.savefig(png, format="png", dpi=110)
    display(Image(png.getvalue(), alt=alt))


# %% [markdown]
"""
## The gap

A copy of a matrix reads every element once and writes every element once. So does a copy of its transpose, `np.copyto(u, a.T)`: the same bytes, in another order.

**Predict.** How many GB/s does a plain copy reach for 2000 x 2000 float32, and how many does the transposed copy? Now 2048 x 2048: five per cent more elements. What do you expect? Write down both before you run the cell.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

rates = {}
print("                  copy           transposed copy")
for n in (2000, 2048):
    a = np.random.default_rng(0).random((n, n), np.float32)
    u = np.zeros_like(a)
    for order, source in (("copy", a), ("transposed", a.T)):
        rates[n, order] = 2 * a.nbytes / time_call(np.copyto, u, source, repeats=5).best / 1e9
    print(f"{n} x {n}   {rates[n, 'copy']:7.1f} GB/s   {rates[n, 'transposed']:12.1f} GB/s")
print(
    f"At 2048 the transposed copy is {rates[2048, 'copy'] / rates[2048, 'transposed']:.0f} times "
    f"slower than the copy, and {rates[2000, 'transposed'] / rates[2048, 'transposed']:.1f} times "
    "slower than at 2000."
)

# %% [markdown]
"""
You know the reason from 04. One side is walked along its rows, the other down its columns, and a column touches a new cache line with every element. If the lines of a column stay in the cache until the next column comes, fifteen of sixteen accesses are hits all the same. If the rows are a power of two long, the whole column falls into a few sets, and its lines are gone before they are used again.

**Blocking** is the cure: cut the work into tiles so small that everything a tile touches stays in the cache until the tile is done. This module counts what that buys. The counts are exact: a cache on paper, the model that you built in 04, is fed with every address that your kernel touches.
"""

# %% [markdown]
"""
## Exercise 1: Cut a range into blocks

Everything below walks over blocks: `0..16, 16..32, 32..37`. The last one is short, and this short one is where blocked code goes wrong. Write it once, and well.

<img alt="A bar of 37 elements cut into three pieces: 0 to 16, 16 to 32, and a short one from 32 to 37. A dashed outline shows where a block of full length would have reached: to 48, beyond the end." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='560' height='92' viewBox='0 0 560 92' font-family='sans-serif' font-size='14'><title>37 elements in blocks of 16</title>
<path d='M20 30h158v34h-158z' fill='rgb(86,180,233)'/><path d='M180 30h158v34h-158z' fill='rgb(0,158,115)'/><path d='M340 30h50v34h-50z' fill='rgb(230,159,0)'/>
<path d='M392 31h108v32h-108z' fill='none' stroke='rgb(125,125,125)' stroke-width='2' stroke-dasharray='5 4'/>
<g text-anchor='middle' fill='black'><text x='99' y='52'>(0, 16)</text><text x='259' y='52'>(16, 32)</text><text x='365' y='52'>(32, 37)</text></g>
<g text-anchor='middle' fill='rgb(125,125,125)'><text x='20' y='84'>0</text><text x='180' y='84'>16</text><text x='340' y='84'>32</text><text x='391' y='84'>37</text><text x='500' y='84'>48</text><text x='446' y='52'>not there</text></g>
</svg>">

A slice forgives a stop beyond the end: `x[32:48]` of 37 elements has five. An element loop does not: `x[47]` raises, and in compiled code it reads somebody else's memory. So the stops are exact.

**Predict.** How many blocks are `n = 0`, `n = 16`, `n = 17` with blocks of 16?
"""


# %%
def ranges_spec(n, block):
    """The blocks by what every index says: index i belongs to block i // block."""
    blocks = {}
    for i in range(n):
        blocks.setdefault(i // block, []).append(i)
    return [(indices[0], indices[-1] + 1) for indices in blocks.values()]


# %% nbgrader={"grade": false, "grade_id": "block_ranges", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def block_ranges(n, block):
    """The range 0..n cut into blocks, in order; the last one may be short.

    n     : how many indices there are, a whole number >= 0
    block : how long a block is, a whole number >= 1; it may be larger than n, by any amount
    returns a list of tuples of two Python ints, start and stop; none is empty, n = 0 gives []
    raises TypeError and ValueError as check_count

    >>> block_ranges(37, 16)
    [(0, 16), (16, 32), (32, 37)]
    """
    # Hint: range(0, n, block) are the starts. About 3 lines.
    ### BEGIN SOLUTION
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "block_ranges-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for n, block in ((12, 4), (37, 16), (5, 1), (0, 3), (3, 8), (16, 16), (17, 16)):
    want = ranges_spec(n, block)
    whole = n // block * block
    causes = {
        f"the last {n - whole} elements are missing: the last block is short": lambda: want[
            : n // block
        ],
        "a stop beyond n: slices forgive it, element loops do not": lambda: [
            (start, start + block) for start, _ in want
        ],
        "the blocks are lists: a pair is a tuple (start, stop)": lambda: [list(w) for w in want],
        "start and length: the second number is where the block stops": lambda: [
            (start, stop - start) for start, stop in want
        ],
        "an empty block at the end": lambda: [*want, (n, n)],
    }
    got = block_ranges(n, block)
    expect_equal(got, want, likely=causes, hint="(start, min(start + block, n)), one after another")
for bad, error, hint in BAD_BLOCKS:
    expect_raises(error, block_ranges, 5, bad, hint=hint)
expect_raises(ValueError, block_ranges, -1, 4, hint="n = -1 is no size; n = 0 is one")

# %% nbgrader={"grade": true, "grade_id": "block_ranges-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("block_ranges-hidden")
sizes = [(int(n), int(block)) for n, block in draw.integers(1, 60, (12, 2))]
for n, block in (*sizes, (1, 1), (0, 1), (33, 32), (32, 33), (1, 60)):
    want = ranges_spec(n, block)
    expect_equal(block_ranges(block=block, n=n), want, hint="any n and any block")
want = [(0, 7)]
expect_equal(block_ranges(7, 10**9), want, hint="a block far larger than n is one short block")
expect_equal(block_ranges(7, 10**30), want, hint="a block may be any whole number")
want = ranges_spec(3000, 1)
expect_equal(block_ranges(3000, 1), want, hint="thousands of blocks: no function that calls itself")
want = [(0, 3), (3, 5)]
got = block_ranges(np.int32(5), np.int64(3))
expect_equal(got, want, hint="NumPy integers count as well; the pairs are Python ints")
for bad in ("4", 2.5, np.float64(2), float("nan"), (4, 4), np.bool_(True)):
    expect_raises(TypeError, block_ranges, 5, bad, hint="a block is a whole number")
    expect_raises(TypeError, block_ranges, bad, 5, hint="n is a whole number")
for nothing in (0.0, False):
    expect_raises(TypeError, block_ranges, nothing, 4, hint="n is a whole number, also where it is 0")
expect_raises(ValueError, block_ranges, 0, 0, hint="block 0 is refused for n = 0, too")
expect_raises(ValueError, block_ranges, 0, -3, hint="a negative block is refused for n = 0, too")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
rows, columns, tile = 37, 51, 16
try:
    tiles = [(i, j) for i in block_ranges(rows, tile) for j in block_ranges(columns, tile)]
except NotImplementedError:
    print("left out: block_ranges is not written yet")
else:
    full = sum((i1 - i0) * (j1 - j0) == tile**2 for (i0, i1), (j0, j1) in tiles)
    counts = ", ".join(f"{len(block_ranges(n, 16))} for n = {n}" for n in (0, 16, 17))
    print(f"blocks of 16: {counts}")
    print(f"{rows} x {columns} in tiles of {tile}: {len(tiles)} tiles, {full} of them full")
    if plots := new_plots(1, f"{rows} x {columns} in tiles of {tile} x {tile}", width=4.6):
        for number, ((i0, i1), (j0, j1)) in enumerate(tiles):
            short = (i1 - i0, j1 - j0) != (tile, tile)
            plots[0].fill_between(
                [j0, j1], i0, i1, color=ORANGE if short else BLUE, ec="black", lw=1.5
            )
            middle = ((j0 + j1) / 2, (i0 + i1) / 2)
            plots[0].annotate(str(number), middle, ha="center", va="center", color="black")
        plots[0].set(xlim=(-1, columns + 1), ylim=(rows + 1, -1), aspect="equal")
        labels(plots[0], "column", "row")
        show_plots(
            plots,
            f"A matrix cut into {len(tiles)} numbered tiles; {full} full ones in blue, the short "
            "ones at the right and lower edge in orange.",
        )

# %% [markdown]
"""
## Exercise 2: Transpose in tiles, counted

    for each block of rows of a
        for each block of columns of a
            for each element in the tile:    out[j, i] = a[i, j]

Nothing is computed and nothing is read twice. What changes is the *order*. In a tile of 16 x 16 float32 a row is one cache line, so the tile touches 16 lines of `a` and 16 lines of `out`, and every one of them is used 16 times before the next tile comes.

The cell that counts does not use a clock. It hands in arrays whose elements lie with the test; each of your reads and writes is asked for one by one, and their addresses go through a cache on paper of 2 KB: 32 lines of 64 bytes, four sets of eight. It is small because the matrix is small.

*What is counted must be what you use.* Whoever copies `a` into a list first reads every element once, in order, and the cache never sees the rest. So an element is written to `out` before you read on: the cell looks at that, too.

**Predict.** A 48 x 48 float32 matrix has 144 lines, and so has its transpose. How many misses has the plain double loop, of its 4608 accesses? How many has yours?
"""


# %%
def transpose_spec(a):
    """The transpose by Python's zip: row j of it is made of the elements j of all rows."""
    return np.array(list(zip(*a.tolist())), a.dtype).reshape(a.shape[::-1])


# %% jupyter={"source_hidden": true}
# Given: what the counting cells look at.
def most_held_back(a, out):
    """The most elements of a that were read while their place in out was still unwritten."""
    return int(np.cumsum(np.where(trace(a, out).writes, -1, 1)).max(initial=0))


def count_transpose(kernel, a, block):
    """The remote arrays of one transpose whose values are right, and which is no copy."""
    want, hint = transpose_spec(a), "right values first, one element at a time"
    expect_equal(kernel(a, np.zeros_like(want), block), want, hint=hint)
    small = ramp(5, 7)
    expect_equal(kernel(small, np.zeros((7, 5)), 4), transpose_spec(small), hint=hint)
    source = remote_array(a, "a")
    out = remote_array(np.zeros_like(want), "out")
    kernel(source, out, block)
    expect_equal(contents(out), want, hint=hint)
    expect_reads(source, least=a.size)
    held = most_held_back(source, out)
    if held > block * block:
        raise CheckFailed(
            f"blocked_transpose_loops  read {held:,} elements of a before it wrote them, "
            f"a tile has {block * block}\n"
            "  likely    a was copied: the cache model saw the copy, not the transpose\n"
            "  try       out[j, i] = a[i, j], one element after the other"
        )
    return source, out


# %% nbgrader={"grade": false, "grade_id": "blocked_transpose_loops", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def blocked_transpose_loops(a, out, block):
    """The transpose of a matrix, element by element inside square tiles.

        for each tile of a:    out[j, i] = a[i, j] for the elements of the tile

    a     : (m, n) float32 or float64, any stride; not modified; each element is read once
    out   : (n, m) of that dtype; an element is written to it before the next tile is read
    block : side of a tile, a whole number >= 1
    returns out
    raises TypeError and ValueError as check_float_array, check_count and check_out

    M. S. Lam, E. E. Rothberg, M. E. Wolf, The cache performance and optimizations of blocked
    algorithms, ASPLOS 1991.

    >>> blocked_transpose_loops(np.array([[1.0, 2.0, 3.0]]), np.zeros((3, 1)), block=2)
    array([[1.],
           [2.],
           [3.]])
    """
    # Hint: block_ranges for both axes, then two loops inside. About 9 lines.
    ### BEGIN SOLUTION
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            for i in range(i0, i1):
                for j in range(j0, j1):
                    out[j, i] = a[i, j]
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "blocked_transpose_loops-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, n, block, dtype in (
    (4, 4, 2, np.float64),
    (3, 5, 2, np.float32),
    (7, 2, 4, np.float64),
    (1, 6, 9, np.float32),
):
    a, out = ramp(m, n, dtype=dtype), np.full((n, m), 77, dtype)
    want = transpose_spec(a)
    try:
        got = expect_unchanged(blocked_transpose_loops, a, out, block)
    except IndexError as error:
        raise CheckFailed(
            f"blocked_transpose_loops  a ({m}, {n}), block={block}: IndexError: {error}\n"
            "  likely    a tile reaches beyond the edge, or the limits of i and j changed places\n"
            "  try       i runs over the rows of a, j over its columns, both up to min(.., size)"
        ) from None
    rows, columns = m // block * block, n // block * block
    left = np.full((n, m), 77, dtype)
    left[:columns, :rows] = want[:columns, :rows]
    causes = {
        f"rows {rows}.. or columns {columns}.. of a are left out: the last tiles are short": (
            lambda: left
        ),
        "out was not written at all": lambda: np.full((n, m), 77, dtype),
    }
    hint = "out[j, i] = a[i, j] for every element, also in the short tiles"
    case = f"a ({m}, {n}), block={block}"
    # Asked as (got, out)[1], the message names the function that got came from.
    expect_equal((got, out)[1], want, likely=causes, hint=hint, case=case)
    expect_equal(got is out, True, hint="return out itself")
a = ramp(3, 5)
for bad, error, hint in BAD_BLOCKS:
    out = np.full((5, 3), 77.0)
    expect_raises(error, blocked_transpose_loops, a, out, bad, hint=hint)
for what, out in bad_outs(a, (5, 3)):
    expect_raises(ValueError, blocked_transpose_loops, a, out, 2, hint=f"out is {what}: check_out")

# %% nbgrader={"grade": true, "grade_id": "blocked_transpose_loops-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("blocked_transpose_loops-hidden").standard_normal
for m, n, block in ((1, 1, 1), (9, 9, 3), (6, 8, 16), (13, 1, 4), (5, 11, 4), (0, 3, 2), (2, 0, 5)):
    for dtype in (np.float32, np.float64):
        a, out = normal((m, n)).astype(dtype), np.full((n, m), 77, dtype)
        want = transpose_spec(a)
        got = blocked_transpose_loops(out=out, block=np.int64(block), a=a)
        hint = "any size, any block, both dtypes"
        expect_equal((got, out)[1], want, allow_empty=True, hint=hint)
x = normal((5, 4))
want = transpose_spec(x)
for name, a in layouts(x):
    out = np.full((4, 5), 77.0)
    got = expect_unchanged(blocked_transpose_loops, a, out, 3)
    hint = f"a may be {name}; leave it as it is"
    expect_equal((got, out)[1], want, hint=hint)
whole = np.full((8, 10), 77.0)
out = whole[::2, ::-2]
got = blocked_transpose_loops(x, out, 2)
expect_equal(got is out, True, hint="out may be a view")
expect_equal((got, out.copy())[1], want, hint="out may be a view with steps")
expect_equal(whole[1::2], np.full((4, 10), 77.0), hint="what lies between out's elements stays")
hint = "block far larger than the matrix: one tile"
expect_equal(blocked_transpose_loops(x, np.zeros((4, 5)), 10**9), want, hint=hint)
expect_raises(TypeError, blocked_transpose_loops, x, [[0.0] * 5] * 4, 2, hint="out is a list")
expect_raises(TypeError, blocked_transpose_loops, x, want.copy(), "2", hint="block is a text")
expect_raises(TypeError, blocked_transpose_loops, np.ones((2, 2), int), want, 2, hint="integers")
expect_raises(ValueError, blocked_transpose_loops, normal(3), normal((3, 1)), 2, hint="one axis")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "blocked_transpose_loops-misses", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a = ramp(48, 48, dtype=np.float32)
counted = count_transpose(blocked_transpose_loops, a, 16)
misses = cache_misses(*counted, **PAPER_CACHE)
hint = (
    "out is still walked down whole columns, 48 lines for a cache of 32: cut both axes into blocks"
)
points(*at_most(misses, 320, 800, points=2, unit="misses", hint=hint))

# %% nbgrader={"grade": true, "grade_id": "blocked_transpose_loops-misses-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("blocked_transpose_loops-misses-hidden").standard_normal
a = normal((37, 51)).astype(np.float32)
counted = count_transpose(blocked_transpose_loops, a, 16)
misses = cache_misses(*counted, **PAPER_CACHE)
hint = "sizes that are no multiple of the block need tiles on both axes as well"
points(*at_most(misses, 560, 1_200, points=1, unit="misses", hint=hint))
### END HIDDEN TESTS


# %% tags=["raises-exception"]
#| measure
def miss_maps(kernel, a, block):
    """Accesses that missed, as an image of a and one of out: True where an element missed.

    The cache is the one that you wrote in 04; None where it is not written yet.
    """
    from tinykernels.memory import CacheSimulator

    left, out = count_transpose(kernel, a, block)
    cache = CacheSimulator(**PAPER_CACHE)
    missed = [not cache.access(int(address)) for address in trace(left, out).addresses]
    places = trace(left, out).addresses // a.itemsize
    image = np.zeros(2 * a.size, bool)
    image[places[missed]] = True
    return image[: a.size].reshape(a.shape), image[a.size :].reshape(out.shape)


a = ramp(48, 48, dtype=np.float32)
try:
    print("48 x 48      misses of 4608 accesses, cache of 2 KB")
    for block in (48, 4, 8, 16, 24):
        counted = count_transpose(blocked_transpose_loops, a, block)
        note = "   (no blocks)" if block == 48 else ""
        print(f"block {block:2}{cache_misses(*counted, **PAPER_CACHE):13,}{note}")
    maps = [miss_maps(blocked_transpose_loops, a, block) for block in (48, 16)]
except NotImplementedError:
    print("left out: blocked_transpose_loops, or CacheSimulator of 04, is not written yet")
except ImportError:
    print("No picture: it needs the CacheSimulator that you export from 04.")
else:
    print("misses of a and of out, by your own cache of 04:")
    for block, (of_a, of_out) in zip((48, 16), maps):
        print(f"block {block:2}{np.sum(of_a):8,}{np.sum(of_out):8,}")
    if plots := new_plots(4, "Where it misses (orange)", width=9, height=2.9):
        names = [f"{what}, {how}" for how in ("no blocks", "16 x 16") for what in ("a", "out")]
        from matplotlib.colors import ListedColormap

        for axes, name, image in zip(plots, names, [*maps[0], *maps[1]]):
            axes.imshow(image, cmap=ListedColormap([BLUE, ORANGE]), vmin=0, vmax=1)
            labels(axes, title=name)
        show_plots(
            plots,
            "Four maps of a 48 x 48 matrix. Without blocks a misses once a line and out at every "
            "element; in tiles of 16 both miss once a line, the first element of sixteen.",
        )

# %% [markdown]
"""
## Exercise 3: Transpose in tiles, fast

In NumPy one slice assignment moves a whole tile, and the loop over elements runs in compiled code:

    out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T

Tile `(i, j)` of `a` becomes tile `(j, i)` of `out`, and it is turned in itself. Both are needed:

<img alt="A matrix a of two by three numbered tiles, and its transpose of three by two tiles: tile 2, at the upper right of a, stands at the lower left of out, and the arrow inside it that pointed right points down." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='430' height='196' viewBox='0 0 430 196' font-family='sans-serif' font-size='14'><title>Tile (i, j) goes to (j, i)</title>
<g stroke='black' stroke-width='1.5'><g fill='rgb(86,180,233)'><path d='M20 40h48v48h-48z'/><path d='M68 40h48v48h-48z'/><path d='M20 88h48v48h-48z'/><path d='M68 88h48v48h-48z'/><path d='M116 88h48v48h-48z'/><path d='M270 40h48v48h-48z'/><path d='M318 40h48v48h-48z'/><path d='M270 88h48v48h-48z'/><path d='M318 88h48v48h-48z'/><path d='M318 136h48v48h-48z'/></g><g fill='rgb(230,159,0)'><path d='M116 40h48v48h-48z'/><path d='M270 136h48v48h-48z'/></g></g>
<g text-anchor='middle' fill='black'><text x='44' y='58'>0</text><text x='92' y='58'>1</text><text x='140' y='58'>2</text><text x='44' y='106'>3</text><text x='92' y='106'>4</text><text x='140' y='106'>5</text><text x='294' y='58'>0</text><text x='342' y='58'>3</text><text x='294' y='106'>1</text><text x='342' y='106'>4</text><text x='288' y='154'>2</text><text x='342' y='154'>5</text></g>
<path d='M124 74h28m-7 -5l8 5l-8 5M304 146v26m-5 -7l5 8l5 -8' fill='none' stroke='black' stroke-width='2'/>
<path d='M186 88h52m-9 -6l10 6l-10 6' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g text-anchor='middle' fill='rgb(125,125,125)'><text x='92' y='28'>a</text><text x='318' y='28'>out</text></g>
</svg>">

`a.T` alone moves nothing: it is a view with its strides exchanged. The last cell of this exercise compares your function with `np.copyto(out, a.T)` for a matrix of 4096 x 512, which NumPy does element by element.

**Predict.** How many tiles of 64 has that matrix? Each costs you one slice assignment, a microsecond or so. Will you be faster than NumPy in one go?
"""


# %%
def whole_transpose(a, block, out):
    """NumPy's own copy of a transposed view, in one go."""
    np.copyto(out, a.T)
    return out


# %% nbgrader={"grade": false, "grade_id": "blocked_transpose", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def blocked_transpose(a, block=64, out=None):
    """The transpose of a matrix, one slice assignment for each square tile.

        out[j0:j1, i0:i1] = transpose of a[i0:i1, j0:j1]

    a     : (m, n) float32 or float64, any stride; not modified
    block : side of a tile, a whole number >= 1
    out   : (n, m) of that dtype, any stride, or None for a new array
    returns out; never a view of a
    raises TypeError and ValueError as check_float_array, check_count and check_out

    >>> blocked_transpose(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    array([[1., 4.],
           [2., 5.],
           [3., 6.]])
    """
    # Hint: as before, with one slice assignment in place of the two inner loops. About 7 lines.
    ### BEGIN SOLUTION
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "blocked_transpose-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, n, block, dtype in (
    (4, 4, 2, np.float64),
    (6, 6, 3, np.float32),
    (3, 5, 2, np.float32),
    (7, 2, 4, np.float64),
    (1, 6, 9, np.float32),
):
    a = ramp(m, n, dtype=dtype)
    want = transpose_spec(a)
    try:
        got = expect_unchanged(blocked_transpose, a, block)
    except ValueError as error:
        raise CheckFailed(
            f"blocked_transpose  a ({m}, {n}), block={block}: ValueError: {error}\n"
            "  likely    the two slices have different shapes\n"
            "  try       tile (i, j) goes to (j, i): out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T"
        ) from None
    rows, columns = m // block, n // block
    grid = (rows, block, columns, block)
    causes = {
        "each tile is turned in itself, but stays where it was: tile (i, j) goes to (j, i)": (
            lambda: a.reshape(grid).transpose(0, 3, 2, 1).reshape(a.shape)
        ),
        "the tiles have changed places, but are not turned in themselves: .T is missing": (
            lambda: a.reshape(grid).transpose(2, 1, 0, 3).reshape(a.shape)
        ),
        "nothing was moved": lambda: a,
    }
    hint = "the result is (n, m); every element, also in the short tiles"
    case = f"a ({m}, {n}), block={block}"
    expect_equal(got, want, likely=causes, hint=hint, case=case)
a = ramp(5, 3)
expect_fresh(blocked_transpose, a)
want, out = transpose_spec(a), np.full((3, 5), 77.0)
got = blocked_transpose(a, 2, out=out)
expect_equal(got is out, True, hint="with out= the result is out itself: return it")
case = "a (5, 3), block=2, out of 77s"
expect_equal((got, out)[1], want, hint="with out= the elements go into out", case=case)
for bad, error, hint in BAD_BLOCKS:
    expect_raises(error, blocked_transpose, a, bad, hint=hint)
for what, out in bad_outs(a, (3, 5)):
    expect_raises(ValueError, blocked_transpose, a, 2, out, hint=f"out is {what}: ask check_out")

# %% nbgrader={"grade": true, "grade_id": "blocked_transpose-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("blocked_transpose-hidden").standard_normal
for m, n, block in (
    (1, 1, 1),
    (9, 9, 3),
    (6, 8, 16),
    (70, 65, 64),
    (5, 11, 4),
    (0, 3, 2),
    (2, 0, 5),
):
    for dtype in (np.float32, np.float64):
        a = normal((m, n)).astype(dtype)
        want = transpose_spec(a)
        got = expect_fresh(blocked_transpose, block=np.int32(block), a=a)
        hint = "any size, any block, both dtypes, a new array"
        expect_equal(got, want, allow_empty=True, hint=hint)
for a in normal((3, 6, 4)):
    want = transpose_spec(a)
    got = expect_fresh(blocked_transpose, a, 2)
    expect_equal(got, want, hint="a new array in every call, also for the same shape")
x = normal((7, 5))
want = transpose_spec(x)
for name, a in layouts(x):
    got = expect_unchanged(blocked_transpose, a, 3)
    expect_equal(got, want, hint=f"a may be {name}; leave it as it is")
for out in (np.full((5, 7), 77.0, order="F"), np.full((10, 14), 77.0)[::2, ::-2]):
    got = blocked_transpose(x, 4, out=out)
    expect_equal(got is out, True, hint="out may be Fortran-ordered, or a view with steps")
    expect_equal(
        (got, out.copy())[1], want, hint="out may be Fortran-ordered, or a view with steps"
    )
expect_equal(blocked_transpose(x, 10**9), want, hint="block far larger than the matrix: one tile")
expect_equal(blocked_transpose(x), want, hint="the block is 64 unless it is said")
expect_raises(TypeError, blocked_transpose, x, "4", hint="block is a text: TypeError")
expect_raises(TypeError, blocked_transpose, x, 4, [[0.0] * 7] * 5, hint="out is a list: TypeError")
expect_raises(TypeError, blocked_transpose, x.tolist(), hint="a is a list: TypeError")
expect_raises(ValueError, blocked_transpose, normal(6), hint="one axis: ValueError from the door")
### END HIDDEN TESTS


# %% nbgrader={"grade": true, "grade_id": "blocked_transpose-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
def draw_matrix(rng):
    a = rng.random((4096, 512), np.float32)
    return {"a": a, "block": 64, "out": np.zeros((512, 4096), np.float32)}


a = ramp(130, 70, dtype=np.float32).T
want = transpose_spec(a)
expect_equal(blocked_transpose(a), want, hint="right values first")
points(
    speed(
        blocked_transpose,
        whole_transpose,
        draw_matrix,
        writes="out",
        points=2,
        full=1.1,
        half=1.05,
        hint="strips of all 4096 rows are walked like the whole: cut the rows of a into blocks, too",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

sizes, blocks = (1000, 1024, 2000, 2048, 4096), (16, 32, 64, 128, 256)
table = {}
print("GB/s     NumPy" + "".join(f"  block {block:3}" for block in blocks))
for n in sizes:
    a = np.random.default_rng(n).random((n, n), np.float32)
    u = np.zeros_like(a)
    gigabytes = 2 * a.nbytes / 1e9
    whole = gigabytes / time_call(np.copyto, u, a.T, repeats=3).best
    try:
        runs = [time_call(blocked_transpose, a, block, out=u, repeats=3) for block in blocks]
    except NotImplementedError:
        print("left out: blocked_transpose is not written yet")
        break
    table[n] = [whole, *(gigabytes / run.best for run in runs)]
    print(
        f"{n:5}"
        + "".join(f"{rate:9.1f}" if k == 0 else f"{rate:11.1f}" for k, rate in enumerate(table[n]))
    )
else:
    gains = {n: max(row[1:]) / row[0] for n, row in table.items()}
    most, least = max(gains, key=gains.get), min(gains, key=gains.get)
    print(
        f"Your best block against NumPy: {gains[most]:.2f} times at {most}, "
        f"{gains[least]:.2f} times at {least}."
    )
    if plots := new_plots(1, "Transposed copy of n x n float32 against NumPy's"):
        plots[0].axhline(1, color="0.5", ls="--", lw=1, label="NumPy in one go")
        marks = ("s--", "o-", "D--", "^-", "v-")
        for (n, (whole, *rest)), mark, color in zip(
            table.items(), marks, (BLUE, GREEN, "#0072B2", ORANGE, RED)
        ):
            gain = [rate / whole for rate in rest]
            plots[0].plot(range(len(blocks)), gain, mark, color=color, label=f"n = {n}")
        plots[0].set_xticks(range(len(blocks)), blocks)
        plots[0].set_ylim(bottom=0)
        labels(plots[0], "block", "times as fast")
        style = {"labelcolor": "0.5", "facecolor": "none", "fontsize": 8}
        plots[0].legend(loc="center left", bbox_to_anchor=(1, 0.5), **style)
        show_plots(
            plots,
            "How many times as fast as NumPy's transposed copy blocked_transpose is, against the "
            f"block, one line a size; the best gain is at n = {most}, the least at n = {least}.",
        )

# %% [markdown]
"""
Read the table with two questions. *Where does blocking pay?* At the sizes whose rows are a power of two apart, and that do not fit into the inner caches. *Where does it not?* At 1000 or 2000 a column's lines spread over all sets, the caches hold them until the next column comes, and the plain walk is nearly as good; what you pay is a slice assignment a tile. Small tiles lose there. Blocking is a cure, and who is not ill does not need it.

*Does it need both axes?* Not always. Only the side that is walked down its columns is in trouble, and only the length of that walk must be cut. Your loops of exercise 2 walk down `out`, along j: cutting the columns of `a` alone gives the same misses there, cutting its rows alone gives nothing. NumPy chooses the order of its loops itself; for 4096 x 512 it is the rows of `a` that must be cut. The second cut buys that you need not know which: a tile that is short both ways fits whatever the order of the loops and the shape of the matrix.

Compiled code pays nothing for a slice. The sealed boxes below do the same in machine code, one with tiles and one without.

**Predict.** Will tiles pay at 1000 there?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import probes, time_call

if probes.missing():
    print(f"left out: {probes.missing()} (2 probes)")
else:
    print("compiled, ms       no tiles   16 x 16   32 x 32    gain")
    for n in (1000, 1024, 2048, 4096):
        a = np.random.default_rng(n).random((n, n), np.float32)
        u = np.zeros_like(a)
        plain = time_call(probes.transpose_plain, a, u, repeats=3).best
        tiled = [time_call(probes.transpose_tiled, a, u, k, repeats=3).best for k in (16, 32)]
        print(
            f"{n:5}{plain * 1e3:20.2f}{tiled[0] * 1e3:10.2f}{tiled[1] * 1e3:10.2f}"
            f"{plain / min(tiled):8.1f}"
        )
        if n == 1000:
            gain_at_1000 = plain / min(tiled)
    print(f"Compiled, the better tile is {gain_at_1000:.1f} times as fast as no tiles at 1000.")

# %% [markdown]
r"""
## Exercise 4: A matrix product that stays in the cache

A transpose uses every element once. A product uses every element of `a` and `b` `n` times, and there blocking is about *reuse*: what is in the cache shall do all its work before it leaves.

The product of 02, in the order i, j, p, walks down a column of `b` for every element of the result. If `b` has more rows than the cache has lines, each column throws out the one before. Three cures, one after the other:

1. *Another order.* In the order i, p, j everything is walked along rows. A single `a[i, p]` is multiplied by a whole row of `b`.
2. *Blocks.* A tile of `a`, one of `b` and one of `out` that fit into the cache together: $B^3$ multiply-adds for the $3 B^2$ elements that must come in.
3. *Both.* Six loops: three over tiles, and three inside a tile, with i as the outermost of the inner ones.

<img alt="Three square matrices a, b and out, each cut into three by three tiles. One tile of a in the second row and third column, one tile of b in the third row and first column, and the tile of out in the second row and first column are lit: out tile (I, J) gets a tile (I, P) times b tile (P, J). A dashed outline marks the row of tiles of a and the column of tiles of b that this tile of out still needs." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='560' height='186' viewBox='0 0 560 186' font-family='sans-serif' font-size='14'><title>One step of the blocked product</title>
<path d='M20 40h120v120h-120zM220 40h120v120h-120zM420 40h120v120h-120z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M60 40v120M100 40v120M20 80h120M20 120h120M260 40v120M300 40v120M220 80h120M220 120h120M460 40v120M500 40v120M420 80h120M420 120h120' stroke='rgb(125,125,125)'/>
<path d='M100 80h40v40h-40z' fill='rgb(86,180,233)'/><path d='M220 120h40v40h-40z' fill='rgb(0,158,115)'/><path d='M420 80h40v40h-40z' fill='rgb(230,159,0)'/>
<path d='M17 77h126v46h-126zM217 37h46v126h-46z' fill='none' stroke='rgb(213,94,0)' stroke-width='2' stroke-dasharray='6 4'/>
<g text-anchor='middle' fill='black'><text x='120' y='105'>I, P</text><text x='240' y='145'>P, J</text><text x='440' y='105'>I, J</text></g>
<g text-anchor='middle' fill='rgb(125,125,125)'><text x='80' y='28'>a</text><text x='280' y='28'>b</text><text x='480' y='28'>out</text><text x='180' y='106' font-size='22'>&#215;</text><text x='380' y='106' font-size='22'>+=</text></g>
</svg>">

For the tile `(I, J)` of the result the blocks `P` run through a whole row of tiles of `a` and a whole column of tiles of `b`. Each of these steps *adds* to the tile, so `out` must hold 0 before the first.

**The counting cell** multiplies 16 x 24 by 24 x 16 float32 in blocks of 8, and its cache has 1 KB: 16 lines. Three tiles of 8 x 8 are 768 bytes, but whole lines are fetched: a row of a tile is half a line, and the three tiles lie in 24. They need not all be there at once. The tile of `b` is swept again and again, while of `a` and of `out` only one row each is in use at a time. It also looks at what is read: `b[p, j]` is read for every multiply-add, `m*n*k` times in all, and `a[i, p]` at least once for every block of columns. A copy of `a` or `b` shows in these numbers, and earns nothing here.

**Predict.** `a` and `b` are read 12 288 times together, and `out` is read and written besides. How many of all these accesses miss in the order i, j, p? In the order i, p, j? In your six loops?
"""


# %% jupyter={"source_hidden": true}
# Given: a specification, and what the tests say about products.
def product_spec(a, b):
    """The product in float64 by einsum, rounded once."""
    return np.einsum("ip,pj->ij", a, b, dtype=float, casting="same_kind").astype(a.dtype)


def product_scale(a, b):
    """The terms of each sum added up without their signs: the scale of its rounding errors."""
    return np.abs(a).astype(float) @ np.abs(b).astype(float)


def adds_to_out(kernel, a, b, block):
    """Whether a product leaves in out what stood there, and adds to it."""
    want = product_spec(a, b)
    out = np.full_like(want, 7)
    kernel(a, b, block, out=out)
    return np.allclose(out, want + 7)


PRODUCTS = (
    (4, 4, 4, 4, np.float64),
    (4, 6, 2, 2, np.float32),
    (5, 7, 3, 4, np.float64),
    (3, 0, 2, 2, np.float32),
    (2, 3, 4, 8, np.float64),
)


def expect_product(kernel, a, b, block, last_block, hint, case):
    """A blocked product, and if it is wrong what is likely to be missing.

    last_block : what to say where only the last block of p is in the result
    """
    (m, k), n = a.shape, b.shape[1]
    scale, want = product_scale(a, b), product_spec(a, b)
    got = expect_unchanged(kernel, a, b, block)
    last = (k - 1) // block * block if k else 0
    rows, inner, columns = (size // block * block for size in (m, k, n))
    short = np.zeros_like(want)
    short[:rows, :columns] = product_spec(a[:rows], b[:, :columns])
    causes = {
        last_block: lambda: product_spec(a[:, last:], b[last:]),
        "a new out holds anything: clear it before adding": (
            lambda: got if adds_to_out(kernel, a, b, block) else None
        ),
        "the last, short block of p is left out": lambda: product_spec(a[:, :inner], b[:inner]),
        "the short tiles at the edges of out are left out": lambda: short,
    }
    expect_close(got, want, scale=scale, inner=k, likely=causes, hint=hint, case=case)


def expect_out_and_errors(kernel):
    """A given out is cleared, filled and returned, also twice; what cannot be is refused."""
    a, b = ramp(3, 5), ramp(5, 4, seed=1)
    scale, out = product_scale(a, b), np.full((3, 4), 7.0)
    want = product_spec(a, b)
    for _ in range(2):
        before = out.copy()
        got = kernel(a, b, 2, out=out)
        expect_equal(got is out, True, hint="with out= the result is out itself: return it")
        causes = {"the call added to what stood in out: clear it first": lambda: before + want}
        case, hint = "a (3, 5), b (5, 4), block_size=2, out given", "out[...] = 0 comes first"
        answer = (got, out)[1]
        expect_close(answer, want, inner=5, scale=scale, likely=causes, hint=hint, case=case)
    for bad, error, hint in BAD_BLOCKS:
        expect_raises(error, kernel, a, b, bad, hint=hint)
    for what, out in bad_outs(a, (3, 4)):
        expect_raises(ValueError, kernel, a, b, 2, out, hint=f"out is {what}: ask check_out")
    expect_raises(ValueError, kernel, a, a, 2, hint="check_matmul first")


# %% jupyter={"source_hidden": true}
# Given: what the counting cells look at.
def places_read(x):
    """The rows and the columns of the elements of a remote array that were read, in order."""
    seen = trace(x)
    return np.divmod(seen.addresses[~seen.writes] // x.itemsize, x.shape[1])


def longest_reading(*arrays):
    """The most reads between two writes."""
    ends = np.flatnonzero(np.r_[True, trace(*arrays).writes, True])
    return int(np.diff(ends).max()) - 1


def what_to_try(a, b, block):
    """What the order of the reads says about the loops."""
    i, p_of_a = places_read(a)
    p, j = places_read(b)
    turns_i, turns_p, turns_j = (np.count_nonzero(np.diff(index)) for index in (i, p, j))
    if turns_i > min(turns_p, turns_j):
        return (
            "inside a tile a and out are walked down their columns: "
            "i is the outermost of the three inner loops"
        )
    rows = np.split(p_of_a, np.flatnonzero(np.diff(i)) + 1)
    if max(len(np.unique(row)) for row in rows) > block:
        return "p is not cut into blocks: all of b is still swept for every row of a tile"
    return "cut i, p and j into blocks of block_size, all three"


def product_lines(n, order, block, inner=None):
    """The addresses that a blocked product of n x n float32 touches, in order.

    inner : columns of a and rows of b, where they are not n

    All multiply-adds at once, sorted by when the loops come to them: first by their tile, in
    the order i, j, p of tiles, then in the given order inside it. Each touches its elements of a
    and b, and that of out twice; out is cleared before.
    """
    k = inner or n
    index = dict(zip("ijp", np.indices((n, n, k)).reshape(3, -1)))
    keys = [index[x] // block for x in "ijp"] + [index[x] for x in order]
    when = np.lexsort(keys[::-1])
    i, j, p = (index[x][when] for x in "ijp")
    array = -(-n * k * 4 // 64) * 64
    out = 2 * array + 4 * (i * n + j)
    touched = np.stack([4 * (i * k + p), array + 4 * (p * n + j), out, out], axis=1)
    return np.concatenate([2 * array + 4 * np.arange(n * n), touched.ravel()])


def count_product(kernel, a, b, block):
    """The remote arrays of one product whose values are right."""
    want, scale = product_spec(a, b), product_scale(a, b)
    check = partial(expect_close, want=want, inner=a.shape[1], scale=scale)
    check(kernel(a, b, block), hint="right values first")
    small, other, place = ramp(5, 7), ramp(7, 3, seed=1), np.full((5, 3), 77.0)
    kernel(small, other, 4, out=place)
    hint = "right values first, also at the edges and whatever stood in out"
    expect_close(place, product_spec(small, other), inner=7, scale=100, hint=hint)
    left, right = remote_array(a, "a"), remote_array(b, "b")
    out = remote_array(np.full(want.shape, 77, a.dtype), "out")
    kernel(left, right, block, out=out)
    check(contents(out), hint="right values in out as well, one element at a time")
    return left, right, out


def expect_use(a, b, out, block):
    """What was read was multiplied then and there: no array was copied first."""
    (m, k), n = a.shape, b.shape[1]
    expect_reads(a, least=m * k * len(ranges_spec(n, block)))
    expect_reads(b, least=m * k * n)
    p, j = places_read(b)
    fewest = int(np.bincount(p * n + j, minlength=k * n).min())
    longest = longest_reading(a, b, out)
    if fewest < m or longest > 3 * block**3:
        raise CheckFailed(
            f"cache_friendly_matmul  the least read element of b was read {fewest} times, {m} are "
            f"needed; {longest:,} reads in a row without a write to out\n"
            "  likely    a copy was read, and a and b beside it\n"
            "  try       out[i, j] += a[i, p] * b[p, j], and no second array of their values"
        )


# %% nbgrader={"grade": false, "grade_id": "cache_friendly_matmul", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, sum, spec
def cache_friendly_matmul(a, b, block_size=32, out=None):
    """The product of two matrices, one element at a time, inside square tiles.

        out[...] = 0
        for each tile (I, J) of out and each block P of the inner axis, in any order
            for i in I, and inside it j in J and p in P:    out[i, j] += a[i, p] * b[p, j]

    a          : (m, k) float32 or float64, any stride; not modified
    b          : (k, n), the dtype of a; not modified; read once for each multiply-add
    block_size : side of a tile, a whole number >= 1
    out        : (m, n) of that dtype, or None for a new array; what stood in it does not count
    returns out; k = 0 gives zeros; an element of a, or a sum within a tile, may be kept in a name
    raises TypeError and ValueError as check_matmul, check_count and check_out

    M. S. Lam, E. E. Rothberg, M. E. Wolf, The cache performance and optimizations of blocked
    algorithms, ASPLOS 1991.

    >>> cache_friendly_matmul(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]), block_size=1)
    array([[11.]])
    """
    # Hint: out[...] = 0, block_ranges three times, then i, p, j. About 13 lines.
    ### BEGIN SOLUTION
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for i0, i1 in block_ranges(m, block_size):
        for p0, p1 in block_ranges(k, block_size):
            for j0, j1 in block_ranges(n, block_size):
                for i in range(i0, i1):
                    for j in range(j0, j1):
                        total = float(out[i, j])
                        for p in range(p0, p1):
                            total += float(a[i, p]) * float(b[p, j])
                        out[i, j] = total
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "cache_friendly_matmul-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, k, n, block, dtype in PRODUCTS:
    a, b = ramp(m, k, dtype=dtype), ramp(k, n, seed=1, dtype=dtype)
    case = f"a ({m}, {k}), b ({k}, {n}), block_size={block}"
    try:
        expect_product(
            cache_friendly_matmul,
            a,
            b,
            block,
            last_block="only the last block of p survived: add with +=, and clear out once, "
            "before the loops",
            hint="every tile of out adds up over all blocks of p; an empty sum is 0",
            case=case,
        )
    except IndexError as error:
        raise CheckFailed(
            f"cache_friendly_matmul  {case}: IndexError: {error}\n"
            f"  likely    a tile reaches beyond the edge: not all sizes are multiples of {block}\n"
            "  try       block_ranges gives stops that are right at the edge, too"
        ) from None
expect_out_and_errors(cache_friendly_matmul)

# %% nbgrader={"grade": true, "grade_id": "cache_friendly_matmul-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("cache_friendly_matmul-hidden").standard_normal
for m, k, n, block in (
    (1, 1, 1, 1),
    (1, 9, 1, 4),
    (9, 1, 2, 3),
    (6, 6, 6, 3),
    (5, 7, 3, 4),
    (7, 7, 7, 6),
    (3, 11, 8, 16),
    (2, 0, 3, 2),
    (0, 2, 3, 2),
    (2, 3, 0, 2),
):
    for dtype in (np.float32, np.float64):
        a, b = normal((m, k)).astype(dtype), normal((k, n)).astype(dtype)
        scale, want = product_scale(a, b), product_spec(a, b)
        got = expect_fresh(cache_friendly_matmul, block_size=np.int64(block), b=b, a=a)
        hint = "any size, any block, both dtypes, a new array"
        expect_close(got, want, scale=scale, inner=k, allow_empty=True, hint=hint)
left, right = normal((3, 5)), normal((5, 4))
scale, want = product_scale(left, right), product_spec(left, right)
for (name, a), (_, b) in zip(layouts(left), layouts(right)):
    got = expect_unchanged(cache_friendly_matmul, a, b, 2)
    expect_close(got, want, inner=5, scale=scale, hint=f"a and b may each be {name}")
whole = np.full((6, 8), 7.0)
out = whole[::2, ::-2]
got = cache_friendly_matmul(left, right, 3, out)
expect_equal(got is out, True, hint="with out= the result is out itself, also where it is a view")
answer = (got, out.copy())[1]
expect_close(answer, want, inner=5, scale=scale, hint="out may be a view with steps")
expect_equal(whole[1::2], np.full((3, 8), 7.0), hint="what lies between the elements of out stays")
got = cache_friendly_matmul(left, right)
expect_close(got, want, inner=5, scale=scale, hint="the block is 32 unless it is said")
got = cache_friendly_matmul(left, right, 10**9)
expect_close(got, want, inner=5, scale=scale, hint="block far larger than the matrices: one tile")
a, b = np.array([[np.nan, 1], [np.inf, 1]]), np.array([[1.0, 0.0], [1.0, 2.0]])
want = np.array([[np.nan, np.nan], [np.inf, np.nan]])
hint = "NaN and infinity follow the arithmetic: skip no term"
expect_close(cache_friendly_matmul(a, b, 1), want, hint=hint)
a, b = np.array([[0.0, 0.5]]), np.array([[np.nan, 2.0], [1.0, 3.0]])
expect_close(cache_friendly_matmul(a, b, 1), np.array([[np.nan, 1.5]]), hint=hint)
square = normal((4, 4))
scale, want = product_scale(square, square), product_spec(square, square)
got = cache_friendly_matmul(square, square, 3)
expect_close(got, want, inner=4, scale=scale, hint="a and b may be one array")
for out in (square, square.T):
    expect_raises(
        ValueError, cache_friendly_matmul, normal((4, 4)), square, 2, out, hint="out is b"
    )
expect_raises(TypeError, cache_friendly_matmul, square, square.astype(np.float32), hint="mixed")
expect_raises(TypeError, cache_friendly_matmul, square, square, "2", hint="block_size is a text")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "cache_friendly_matmul-misses", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b = ramp(16, 24, dtype=np.float32), ramp(24, 16, seed=1, dtype=np.float32)
left, right, out = count_product(cache_friendly_matmul, a, b, 8)
misses = cache_misses(left, right, out, **SMALL_CACHE)
earned = at_most(misses, 340, 700, points=3, unit="misses", hint=what_to_try(left, right, 8))
if earned[0]:
    expect_use(left, right, out, 8)
points(*earned)

# %% nbgrader={"grade": true, "grade_id": "cache_friendly_matmul-misses-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("cache_friendly_matmul-misses-hidden").standard_normal
# So wide that a strip of b does not fit: the axis of j has to be cut as well.
a, b = normal((11, 24)).astype(np.float32), normal((24, 48)).astype(np.float32)
left, right, out = count_product(cache_friendly_matmul, a, b, 8)
misses = cache_misses(left, right, out, **SMALL_CACHE)
earned = at_most(misses, 750, 850, points=2, unit="misses", hint=what_to_try(left, right, 8))
if earned[0]:
    expect_use(left, right, out, 8)
points(*earned)
### END HIDDEN TESTS


# %% tags=["raises-exception"]
#| measure
print("16 x 24 by 24 x 16, cache of 1 KB      misses")
for name, order, block in (("i, j, p", "ijp", 24), ("i, p, j", "ipj", 24)):
    misses = cache_misses(product_lines(16, order, block, inner=24), **SMALL_CACHE)
    print(f"{name + ', no tiles (a model)':36}{misses:9,}")
a, b = ramp(16, 24, dtype=np.float32), ramp(24, 16, seed=1, dtype=np.float32)
try:
    misses = cache_misses(*count_product(cache_friendly_matmul, a, b, 8), **SMALL_CACHE)
except NotImplementedError:
    print("left out: cache_friendly_matmul is not written yet")
else:
    print(f"{'your cache_friendly_matmul, block 8':36}{misses:9,}")

# %% [markdown]
"""
Now larger sizes and many blocks. For speed the next cell does not run your kernel: it counts a *model*, the addresses of the same multiply-adds in the order of the loops, with `out` read and written at each of them.
"""

# %% tags=["raises-exception"]
#| measure
sizes, blocks, orders = (
    (32, 33, 40),
    (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24),
    ("ijp", "ipj", "jpi"),
)
print("misses of the model in a cache of 2 KB (32 lines), float32")
print(" " * 18 + "".join(f"  n = {n:2}" for n in sizes) + "   a multiply-add at 33")
counted = {}


def count_row(key, name, order, block=None):
    """Count one row of the table, and print it."""
    row = [cache_misses(product_lines(n, order, block or n), **PAPER_CACHE) for n in sizes]
    counted[key] = dict(zip(sizes, row))
    print(f"{name:18}" + "".join(f"{misses:8,}" for misses in row) + f"{row[1] / 33**3:14.3f}")


for order in orders:
    count_row(order, ", ".join(order) + ", no tiles", order)
for block in blocks:
    count_row(block, f"i, j, p, block {block}", "ijp", block)
best = {n: min(blocks, key=lambda block: counted[block][n]) for n in sizes}
print(
    f"n = 33: the order alone brings {counted['ijp'][33]:,} down to {counted['ipj'][33]:,}, "
    f"blocks of {best[33]} to {counted[best[33]][33]:,}."
)
print(f"A block of 16 misses {counted[16][32]:,} times at n = 32, {counted[16][40]:,} at n = 40.")
if plots := new_plots(1, "Misses of the blocked product, cache of 2 KB"):
    for n, color, mark in zip(sizes, (ORANGE, BLUE, GREEN), "so^"):
        row = [counted[block][n] for block in blocks]
        plots[0].plot(blocks, row, mark + "-", color=color, label=f"n = {n}")
    edge = math.sqrt(2048 / 12)
    plots[0].axvline(edge, color="0.5", ls="--", lw=1)
    plots[0].annotate(
        "three tiles fit ",
        (edge, 0.97),
        xycoords=("data", "axes fraction"),
        color="0.5",
        ha="right",
        va="top",
    )
    plots[0].set_yscale("log")
    labels(plots[0], "block", "misses")
    plots[0].legend(labelcolor="0.5", facecolor="none")
    show_plots(
        plots,
        "Misses against the block size for n = 32, 33 and 40, with a dashed line where three "
        f"tiles fill the cache: valleys, lowest at {best[32]}, {best[33]} and {best[40]}.",
    )

# %% [markdown]
"""
Three things to see.

- *The order alone does most of it.* From i, j, p to i, p, j the misses fall to a fraction, without any tile. Tiles win the rest.
- *The valleys have an edge.* To the left tiles are small and are fetched too often; to the right three of them no longer fit, and with the next column each throws out the last. At n = 33 there is one valley between. At n = 40 the curve dips at 8, 16 and 24: a row of 40 is two and a half lines long, so tiles of a multiple of 8 begin at a half or a whole line, and others cut lines anywhere and fetch more of them.
- *The edge is not where the sum of bytes says.* Compare a block of 16 at n = 32 and at n = 40. Three tiles of 16 are 3 KB and should fit into 2 KB at neither. At 40 they nearly do, since only one row of the tile of `a` is in use at a time. At 32 a row is two lines long, so the sixteen lines of a tile's column all fall into every second set: half of the cache is of no use to them. The sum of bytes says nothing about sets.
"""

# %% [markdown]
"""
## Exercise 5: Blocks of NumPy

The same three outer loops, and inside them one product of tiles:

    out[i0:i1, j0:j1] += a[i0:i1, p0:p1] @ b[p0:p1, j0:j1]

This is the form that blocked code has in real libraries: the outer loops choose tiles, and a *kernel* that knows nothing of the rest multiplies them. In 06 the tiles go to threads, in 08 the kernel is your own.

`@` is allowed here, for tiles. The last cell of this exercise reads the shapes of all operands: none may have more than `block_size` rows or columns.

**Predict.** 512 x 512 in blocks of 64: how many tile products are that? Will it be faster than one `a @ b`, or slower? By how much?
"""


# %% jupyter={"source_hidden": true}
# Given: what the last cell of the next exercise looks at.
def what_is_wrong(products, work, block):
    """A message about (name, shapes of the operands) of all products of a call, or None.

    work : multiply-adds that the products of tiles do together
    """
    shapes = [tuple(shape) for _, operands in products for shape in operands]
    largest = max(shapes, key=lambda shape: max(shape, default=0), default=())
    if max(largest, default=0) > block:
        return f"an operand of {largest}, with block_size={block}: multiply tiles only"
    tiles = [shapes for _, shapes in products if [len(shape) for shape in shapes] == [2, 2]]
    done = sum(rows * inner * columns for (rows, inner), (_, columns) in tiles)
    if done < work:
        return (
            f"products of a slice of a and a slice of b did {done:,} of {work:,} multiply-adds: "
            "a[i0:i1, p0:p1] @ b[p0:p1, j0:j1], without np.asarray around a or b"
        )
    return None


# %% nbgrader={"grade": false, "grade_id": "blocked_matmul", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def blocked_matmul(a, b, block_size=64, out=None):
    """The product of two matrices, as products of tiles.

        out[I, J] = sum over blocks P of  a[I, P] @ b[P, J]

    a          : (m, k) float32 or float64, any stride; not modified
    b          : (k, n), the dtype of a; not modified
    block_size : side of a tile, a whole number >= 1
    out        : (m, n) of that dtype, or None for a new array; what stood in it does not count
    returns out; k = 0 gives zeros; each product is one of a slice of a and a slice of b, with at
        most block_size rows and columns
    raises TypeError and ValueError as check_matmul, check_count and check_out

    >>> blocked_matmul(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]), block_size=1)
    array([[11.]])
    """
    # Hint: as before, with one line in place of the three inner loops. About 9 lines.
    ### BEGIN SOLUTION
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for i0, i1 in block_ranges(m, block_size):
        for j0, j1 in block_ranges(n, block_size):
            for p0, p1 in block_ranges(k, block_size):
                out[i0:i1, j0:j1] += a[i0:i1, p0:p1] @ b[p0:p1, j0:j1]
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "blocked_matmul-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, k, n, block, dtype in PRODUCTS:
    a, b = ramp(m, k, dtype=dtype), ramp(k, n, seed=1, dtype=dtype)
    case = f"a ({m}, {k}), b ({k}, {n}), block_size={block}"
    try:
        expect_product(
            blocked_matmul,
            a,
            b,
            block,
            last_block="only the last block of p survived: the blocks of p are added up, with +=",
            hint="every tile of out is a sum over all blocks of p; an empty sum is 0",
            case=case,
        )
    except ValueError as error:
        raise CheckFailed(
            f"blocked_matmul  {case}: {error}\n"
            "  likely    the slices do not fit together\n"
            "  try       a[i0:i1, p0:p1] @ b[p0:p1, j0:j1] goes to out[i0:i1, j0:j1]"
        ) from None
expect_out_and_errors(blocked_matmul)

# %% nbgrader={"grade": true, "grade_id": "blocked_matmul-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("blocked_matmul-hidden").standard_normal
for m, k, n, block in (
    (1, 1, 1, 1),
    (1, 9, 1, 4),
    (9, 1, 2, 3),
    (6, 6, 6, 3),
    (5, 7, 3, 1),
    (7, 7, 7, 6),
    (33, 65, 31, 32),
    (3, 11, 8, 16),
    (2, 0, 3, 2),
    (0, 2, 3, 2),
    (2, 3, 0, 2),
):
    for dtype in (np.float32, np.float64):
        a, b = normal((m, k)).astype(dtype), normal((k, n)).astype(dtype)
        scale, want = product_scale(a, b), product_spec(a, b)
        got = expect_fresh(blocked_matmul, block_size=np.int64(block), b=b, a=a)
        hint = "any size, any block, both dtypes, a new array"
        expect_close(got, want, scale=scale, inner=k, allow_empty=True, hint=hint)
left, right = normal((3, 5)), normal((5, 4))
scale, want = product_scale(left, right), product_spec(left, right)
for (name, a), (_, b) in zip(layouts(left), layouts(right)):
    got = expect_unchanged(blocked_matmul, a, b, 2)
    expect_close(got, want, inner=5, scale=scale, hint=f"a and b may each be {name}")
whole = np.full((6, 8), 7.0)
out = whole[::2, ::-2]
got = blocked_matmul(left, right, 3, out)
expect_equal(got is out, True, hint="with out= the result is out itself, also where it is a view")
answer = (got, out.copy())[1]
expect_close(answer, want, inner=5, scale=scale, hint="out may be a view with steps")
expect_equal(whole[1::2], np.full((3, 8), 7.0), hint="what lies between the elements of out stays")
got = blocked_matmul(left, right)
expect_close(got, want, inner=5, scale=scale, hint="the block is 64 unless it is said")
got = blocked_matmul(left, right, 10**9)
expect_close(got, want, inner=5, scale=scale, hint="block far larger than the matrices: one tile")
a, b = np.array([[0.0, 0.5]]), np.array([[np.nan, 2.0], [1.0, 3.0]])
hint = "NaN and infinity follow the arithmetic: skip no tile"
expect_close(blocked_matmul(a, b, 1), np.array([[np.nan, 1.5]]), hint=hint)
square = normal((4, 4))
scale, want = product_scale(square, square), product_spec(square, square)
got = blocked_matmul(square, square, 3)
expect_close(got, want, inner=4, scale=scale, hint="a and b may be one array")
for out in (square, square.T):
    expect_raises(ValueError, blocked_matmul, normal((4, 4)), square, 2, out, hint="out is b")
expect_raises(TypeError, blocked_matmul, square, square.astype(np.float32), hint="mixed dtypes")
expect_raises(TypeError, blocked_matmul, square, square, "2", hint="block_size is a text")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "blocked_matmul-products", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
m, k, n, block = 20, 23, 17, 8
a, b = ramp(m, k), ramp(k, n, seed=1)
scale, want = product_scale(a, b), product_spec(a, b)
products = claim("products", blocked_matmul, a, b, block)
got = blocked_matmul(a, b, block)
expect_close(got, want, inner=k, scale=scale, hint="right values first")
message = what_is_wrong(products, m * k * n, block)
if message is None and len(products) > math.prod(-(-size // block) for size in (m, k, n)):
    message = f"{len(products)} products, with block_size={block}: tiles of {block}, but at the edges"
points(0 if message else 2, message)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

size = 512
a, b = (np.random.default_rng(s).random((size, size), np.float32) for s in (1, 2))
whole = time_call(np.matmul, a, b, repeats=5).best
print(f"{size} x {size} float32          time      GFLOP/s   products")
print(f"a @ b{whole * 1e3:24.2f} ms{2 * size**3 / whole / 1e9:11.1f}{1:10,}")
for block in (16, 32, 64, 128, 256, 512):
    try:
        seconds = time_call(blocked_matmul, a, b, block, repeats=3).best
        number = len(block_ranges(size, block)) ** 3
    except NotImplementedError:
        print("left out: blocked_matmul is not written yet")
        break
    rate = 2 * size**3 / seconds / 1e9
    print(f"block {block:3}{seconds * 1e3:20.2f} ms{rate:11.1f}{number:10,}")

# %% [markdown]
"""
Every row of blocks does the same multiply-adds, and none of them is a gain. The BLAS behind `@` has blocked the product already, for three levels of cache and for the registers, with tiles copied into the order in which it reads them. Your blocks around it add a price for each tile, and an extra pass over `out` for each block of p.

That is the rule for *when to use a library*: where a well-kept one does what you need, your own blocks around it do nothing but harm. They pay where there is no such library for your operation (a transpose into your own layout, a product with something fused to it, a format of your own), or where a tile is the unit of something else: of work for a thread, of memory that you have.

And without a library? In compiled code, tiles *alone* do not make a product fast either: the order i, p, j streams through the rows of `b`, which the hardware fetches ahead of time. The sealed boxes show what the order does; what must come on top are registers, and they are module 08.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import probes, time_call

if probes.missing():
    print(f"left out: {probes.missing()} (3 orders)")
else:
    print("compiled, GFLOP/s      " + "".join(f"{name:>8}" for name in probes.MATMUL_ORDERS))
    for size in (64, 128, 256, 512):
        a, b = (np.random.default_rng(s).random((size, size), np.float32) for s in (1, 2))
        c = np.zeros_like(a)
        rates = [
            2 * size**3 / time_call(box, a, b, c, repeats=3).best / 1e9
            for box in probes.MATMUL_ORDERS.values()
        ]
        print(f"n = {size:3}                " + "".join(f"{rate:8.2f}" for rate in rates))
    print("i, p, j is called ikj here, as in most books.")

# %% [markdown]
r"""
## Exercise 6: How large a block?

Three tiles live at once: one of `a`, one of `b`, one of `out`. With $B \times B$ elements each, they fit if

$$ 3\,B^2 \cdot \text{itemsize} \le \text{cache}. $$

And whole lines are fetched, so $B$ is a multiple of the elements in a line, `line // itemsize`. That is `choose_block_size`, and it is a *first guess*: you saw above what it leaves out. So the second function takes counts or times, as you like, and picks the best of some candidates. Where two are equally good it takes the smaller one, which leaves room for others.

Careful with the root: `math.sqrt` rounds, and `math.isqrt` does not.

**Predict.** For a first-level cache of 32 KB and float32, three tiles: which block? For 48 KB? For float64?
"""


# %%
def block_size_spec(cache_bytes, itemsize, arrays, line):
    """The largest block by trying one after the other."""
    step = max(line // itemsize, 1)
    block = step
    while arrays * (block + step) * (block + step) * itemsize <= cache_bytes:
        block += step
    return block


# %% nbgrader={"grade": false, "grade_id": "choose_block_size", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def choose_block_size(cache_bytes, itemsize=4, arrays=3, line=64):
    """The side of the largest square tiles that fit into a cache together.

        largest B with  arrays * B*B * itemsize <= cache_bytes,  a multiple of line // itemsize

    cache_bytes : bytes of the cache, a whole number >= 1
    itemsize    : bytes of an element
    arrays      : how many tiles are in use at once
    line        : bytes of a cache line; if an element is larger than that, B is any whole number
    returns an int; one line's worth of elements, at least 1, where not even that fits
    raises TypeError and ValueError as check_count, for each of the four

    >>> choose_block_size(32768)
    48
    """
    # Hint: how many elements may a tile have? math.isqrt is its side. About 5 lines.
    ### BEGIN SOLUTION
    counts = {"cache_bytes": cache_bytes, "itemsize": itemsize, "arrays": arrays, "line": line}
    cache_bytes, itemsize, arrays, line = (check_count(*item) for item in counts.items())
    step = max(line // itemsize, 1)
    side = math.isqrt(cache_bytes // (arrays * itemsize))
    return max(side // step * step, step)
    ### END SOLUTION


def best_block(misses, candidates):
    """The candidate with the fewest misses; of equals the smallest.

    misses     : a function of a block size that gives a number: misses, or seconds; it is called
                 once for each candidate
    candidates : block sizes, a list or a tuple, in any order
    returns one of them, as an int
    raises ValueError for no candidates; TypeError and ValueError as check_count, before misses is
        called

    >>> best_block({8: 700, 16: 90, 32: 90}.get, [32, 8, 16])
    16
    """
    # Hint: sorted candidates, and min with key=. About 4 lines.
    ### BEGIN SOLUTION
    blocks = sorted(check_count("candidate", candidate) for candidate in candidates)
    if not blocks:
        raise ValueError("candidates is empty: there must be a block size to choose")
    return min(blocks, key=misses)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "choose_block_size-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for cache, itemsize, arrays, line in (
    (32768, 4, 3, 64),
    (3072, 4, 3, 64),
    (49152, 8, 3, 64),
    (2048, 4, 2, 32),
    (100, 4, 3, 64),
):
    want = block_size_spec(cache, itemsize, arrays, line)
    step = line // itemsize
    whole = arrays * (want + step) ** 2 * itemsize
    causes = {
        "the square is missing: a tile has B*B elements": lambda: max(
            cache // (arrays * itemsize) // step * step, step
        ),
        f"one tile fits, but {arrays} live at once": lambda: max(
            math.isqrt(cache // itemsize) // step * step, step
        ),
        f"rounded up: {whole:,} bytes do not fit in {cache:,}": lambda: want + step,
        "bytes were taken for elements: divide by the itemsize": lambda: max(
            math.isqrt(cache // arrays) // step * step, step
        ),
        f"no multiple of the {step} elements in a line": lambda: math.isqrt(
            cache // (arrays * itemsize)
        ),
        "a block of 0: one line's worth of elements is the least": lambda: 0,
    }
    got = choose_block_size(cache, itemsize, arrays, line)
    case = f"cache_bytes={cache}, itemsize={itemsize}, arrays={arrays}, line={line}"
    hint = "isqrt(cache_bytes // (arrays * itemsize)), down to a multiple of line // itemsize"
    expect_equal(got, want, likely=causes, hint=hint, case=case)
for bad, error, hint in BAD_BLOCKS:
    expect_raises(error, choose_block_size, bad, hint=hint.replace("block", "cache_bytes"))
table = {4: 720, 8: 300, 16: 288, 32: 288, 48: 2448}
asked = []


def counted_misses(block):
    asked.append(block)
    return table[block]


for candidates, want in (
    ([4, 8, 16, 48], 16),
    ((32, 8, 16), 16),
    ([48], 48),
    ([8, 4], 8),
    ((np.int64(48), np.int32(8)), 8),
):
    asked.clear()
    causes = {
        "the larger of two equals: the smaller one leaves more room": lambda: 32,
        "the most misses, not the fewest": lambda: max(candidates, key=table.get),
        "the number of misses, not the block": lambda: table[want],
    }
    some = sorted(int(candidate) for candidate in candidates)
    got = best_block(counted_misses, candidates)
    hint = "the candidate with the fewest misses, of equals the smallest, as an int"
    expect_equal(got, want, likely=causes, hint=hint, case=f"candidates {candidates}")
    calls = sorted(int(block) for block in asked)
    hint = "counting is expensive: call misses once for each candidate"
    expect_equal((got, calls)[1], some, hint=hint, case="calls of misses")
expect_raises(ValueError, best_block, counted_misses, [], hint="there is nothing to choose from")

# %% nbgrader={"grade": true, "grade_id": "choose_block_size-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("choose_block_size-hidden")
cases = [
    (int(draw.integers(1, 200_000)), itemsize, arrays, line)
    for itemsize in (1, 2, 4, 8)
    for arrays in (1, 2, 3)
    for line in (32, 64, 128)
]
exact = [(3 * side * side * 4, 4, 3, 64) for side in (16, 32, 48, 160)]
short = [(cache - 1, *rest) for cache, *rest in exact]
for cache, itemsize, arrays, line in (
    *cases,
    *exact,
    *short,
    (1, 4, 3, 64),
    (1_300, 16, 3, 8),
    (2_000, 64, 1, 64),
):
    want = block_size_spec(cache, itemsize, arrays, line)
    got = choose_block_size(line=line, arrays=arrays, itemsize=itemsize, cache_bytes=cache)
    hint = "any cache: exact fits, caches smaller than a line, elements larger than one"
    expect_equal(got, want, hint=hint)
want = block_size_spec(40_000, 4, 3, 64)
expect_equal(choose_block_size(np.int64(40_000)), want, hint="NumPy integers count; an int returns")
side = 2**40 + 16
want = side
hint = "exact squares, also of large numbers: math.isqrt"
expect_equal(choose_block_size(3 * side * side * 4), want, hint=hint)
expect_equal(choose_block_size(3 * side * side * 4 - 1), want - 16, hint=hint)
for name in ("itemsize", "arrays", "line"):
    expect_raises(ValueError, choose_block_size, 2048, **{name: 0}, hint=f"{name} = 0: ValueError")
    expect_raises(
        TypeError, choose_block_size, 2048, **{name: 2.0}, hint=f"{name} = 2.0: TypeError"
    )
costs = {int(block): int(cost) for block, cost in zip(range(1, 30), draw.integers(0, 5, 29))}
for _ in range(4):
    candidates = [int(block) for block in draw.permutation(29)[:12] + 1]
    want = min((costs[block], block) for block in candidates)[1]
    got = best_block(costs.__getitem__, candidates)
    expect_equal(got, want, hint="candidates in any order; of equals the smallest")
got = best_block(misses=lambda block: float(abs(block - 9)), candidates=(np.int32(6), np.int64(9)))
expect_equal(got, 9, hint="misses may give floats; NumPy integers are candidates; an int returns")
got = best_block({8: 0.9, 16: 0.2, 24: 1e300}.__getitem__, [24, 8, 16])
expect_equal(got, 16, hint="misses may give any numbers: compare them as they are")
got = best_block({8: 10**12, 16: 10**9}.__getitem__, [8, 16])
expect_equal(got, 16, hint="misses may be as many as they like")
touched = []
for bad, error in (([8, 0], ValueError), ([8, 2.0], TypeError), ([True, 8], TypeError)):
    hint = "look at all candidates before misses is called"
    expect_raises(error, best_block, touched.append, bad, hint=hint)
    expect_equal(len(touched), 0, hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import facts

try:
    print("three square tiles of    float32   float64")
    caches = [("32 KB on paper", 32 * 1024), ("48 KB on paper", 48 * 1024)]
    caches += [(str(cache), cache.size) for cache in facts().caches or ()]
    for name, size in caches:
        pair = [choose_block_size(size, itemsize) for itemsize in (4, 8)]
        print(f"{name:25}{pair[0]:7}{pair[1]:10}")
    candidates = tuple(range(4, 25, 2))
    print("\nblock for 2 KB on paper        n = 24  n = 30  n = 32  n = 33  n = 40")
    guess = choose_block_size(2048)
    rows = {"guess, by the sum of bytes": [], "search, by counting": []}
    rows |= {"misses with the guess": [], "misses with the search": []}
    for n in (24, 30, 32, 33, 40):

        def count(block, n=n):
            return cache_misses(product_lines(n, "ijp", block), **PAPER_CACHE)

        best = best_block(count, candidates)
        for row, number in zip(rows.values(), (guess, best, count(guess), count(best))):
            row.append(number)
    for name, row in rows.items():
        print(f"{name:26}" + "".join(f"{number:8,}" for number in row))
except NotImplementedError:
    print("left out: choose_block_size or best_block is not written yet")

# %% [markdown]
"""
For 2 KB the guess is its least, one line's worth: not even three such tiles fit. A guess by bytes is a place to begin, and the count is what decides. Where the two differ most, look at the row length: is it a power of two? In production the same two steps are called a *model* and *tuning*, and you will meet them again in 14.
"""

# %% [markdown]
"""
## Use it: the same network, weights turned once

A layer computes `x @ w`, but weights are usually stored as `(outputs, inputs)`, so a network turns them once when it is loaded. The cell runs a network with 1024 inputs and a hidden layer of 2048: it turns its weights by `np.copyto` and by your `blocked_transpose`, and computes with the products of 03 and of this module. What of your work pays here, and what does not?
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import vectorized
from tito.machine import time_call

draw = np.random.default_rng(5)
stored = [
    draw.standard_normal(shape).astype(np.float32) / 32 for shape in ((2048, 1024), (16, 2048))
]
batch = draw.standard_normal((64, 1024)).astype(np.float32)


def turned(transpose):
    """The weights of both layers as (inputs, outputs)."""
    return [transpose(w) for w in stored]


def network(product, weights):
    """Softmax over the outputs of two layers."""
    first, second = weights
    return vectorized.softmax(product(vectorized.vectorized_relu(product(batch, first)), second))


try:
    turning = {
        "np.copyto, in one go": lambda w: np.array(w.T, order="C"),
        "blocked_transpose": blocked_transpose,
    }
    for name, transpose in turning.items():
        print(f"turning the weights, {name:22}{time_call(turned, transpose).median * 1e3:9.3f} ms")
    weights, answers = turned(blocked_transpose), {}
    products = {
        "matmul_baseline (03)": vectorized.matmul_baseline,
        "blocked_matmul": blocked_matmul,
    }
    for name, product in products.items():
        answers[name] = network(product, weights)
        print(f"the network, {name:30}{time_call(network, product, weights).median * 1e3:9.3f} ms")
    old, new = answers.values()
    print(f"largest difference of the two results: {np.abs(old - new).max():.1e}")
except NotImplementedError as error:
    print(f"left out: {str(error) or 'blocked_transpose or blocked_matmul is not written yet'}")

# %% [markdown]
"""
## Scoreboard

Every rung is compared with a specification before it is timed. A rung that is missing or wrong is left out. Below the rates stand the misses a multiply-add, which need no clock.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import loops, vectorized
from tito.machine import Rung, scoreboard

a, b = ramp(48, 48, dtype=np.float32), ramp(48, 48, seed=1, dtype=np.float32)
big = ramp(2048, 2048, dtype=np.float32)
place, in_tiles = np.zeros_like(big), {"out": np.zeros_like(a), "block": 16}


def whole_copy(a, out):
    np.copyto(out, a.T)
    return out


product = dict(
    args=(a, b),
    check=partial(expect_close, want=product_spec(a, b), inner=48, scale=product_scale(a, b)),
    flops=2 * 48**3,
)
small = dict(check=partial(expect_equal, want=transpose_spec(a)), nbytes=2 * a.nbytes)
large = dict(check=partial(expect_equal, want=np.array(big.T)), nbytes=2 * big.nbytes)
board = scoreboard(
    [
        Rung("blocked_transpose_loops, 48", blocked_transpose_loops, (a,), in_tiles, **small),
        Rung("np.copyto(out, a.T), 2048", whole_copy, (big,), {"out": place}, **large),
        Rung("blocked_transpose, 2048", blocked_transpose, (big,), {"out": place}, **large),
        Rung("matmul_loops", loops.matmul_loops, **product),
        Rung("cache_friendly_matmul", cache_friendly_matmul, **product),
        Rung("blocked_matmul, block 16", partial(blocked_matmul, block_size=16), **product),
        Rung("matmul_baseline", vectorized.matmul_baseline, **product),
    ],
    rounds=3,
)
print(board)
print("\nmisses a multiply-add in 2 KB, n = 33, by the model of exercise 4")
for name, order, block in (
    ("matmul_loops: i, j, p", "ijp", 33),
    ("the same in the order i, p, j", "ipj", 33),
    ("cache_friendly_matmul, block 12", "ijp", 12),
):
    misses = cache_misses(product_lines(33, order, block), **PAPER_CACHE)
    print(f"  {name:33}{misses / 33**3:8.4f}")

# %% [markdown]
"""
`cache_friendly_matmul` misses least, and it is far from the fastest: in Python an element costs as much as it costs, wherever it lies. Its worth is that you can count it. In 07 the same loops are compiled, and then the order decides.
"""

# %% [markdown]
"""
## Think

Your answers here are read by a person. Three to six sentences each; numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. Where would you use blocking today, and where not?** One example of each from your own tables, with its numbers, and the reason.

### BEGIN SOLUTION
1 point: blocking pays where data is reused, or where two layouts clash (a transpose), *and* the data exceeds a cache or falls into few sets; with own numbers, e.g. the transpose at 2048.

1 point: it does not pay for kernels that pass once over their data (ReLU, a copy), for what fits in the cache (1000 x 1000 on most machines), or around a BLAS, which blocks itself; with own numbers, e.g. blocked_matmul against `@`. "Blocking makes it faster" without a limit: 0 of this point.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
r"""
**2. Derive the misses of the blocked product.** Show that they are about $2 n^3 / (B\,L)$, with $L$ elements in a line, and compare with the table for $n = 33$ and a block of 12. The table will show a few times as many: look at where in a line the rows of a tile begin and end, and at what is counted that the formula does not mention. What does it leave out?

### BEGIN SOLUTION
1 point: there are $(n/B)^3$ tile products; each brings in a tile of a and a tile of b, $2 B^2$ elements or $2 B^2 / L$ lines; together $2 n^3 / (B L)$. The tile of out stays (or adds $n^2/L$ terms of lower order).

1 point: compared with the own table, the right order of magnitude (2 * 33^3 / (12 * 16) is 374; the table shows some times that), and at least two causes named: tile rows that begin in the middle of a line touch one line more, short tiles at the edge, the misses of out and of clearing it, conflicts within a set.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. Exercises 2 and 4 ask for a number of misses together with a cache; exercise 3 asks how many times as fast as NumPy you are on the same machine; none asks for seconds. Why?** And what does a count of misses not tell you?

### BEGIN SOLUTION
1 point: a count is exact and the same on every machine, busy or not, and anybody can repeat it; it depends on the cache's size, line and ways, so without these the number means nothing. Seconds would grade the machine; a ratio of two times takes the most of it out, but still depends on its caches.

1 point: what it leaves out: what a miss costs, prefetching (the next line is fetched ahead), several levels, the TLB, instructions, and that in Python the interpreter costs more than any miss. One of these with a reason is enough.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *`IndexError` at 37 x 51, or the last rows are missing.* The sizes are no multiples of the block. `block_ranges` for every axis, and no arithmetic with `+ block` anywhere else.
- *Only the last block of p survived.* `=` where `+=` belongs, or `out` was cleared inside the loops.
- *The second call gives something else.* `out` was never cleared.
- *The misses did not go down.* The axis that the inner loop walks is not in blocks, so a whole row or column passes by between two uses of a line. In the product: p or j is not cut, or i is not the outermost loop inside the tile.
- *The counting cell says "copy".* `np.asarray`, `.copy()`, a list of the elements: the cache never saw what you did with them.
- *It is slower than before.* Then it was no case for blocking. Measure first.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 05` says the same;
- you have compared your predictions with what the cells printed, above all the misses of the three orders and the blocks of NumPy;
- the three questions have an answer;
- `tito export 05` has written `tinykernels/blocking.py`, and you find your own words in it.

## In production

Every BLAS is blocked: GotoBLAS, OpenBLAS, BLIS and MKL cut the product for each level of cache, copy the tiles into contiguous buffers (*packing*) and leave the innermost block to a kernel of registers. LAPACK was rewritten around blocks in the 1990s for the same reason. Databases block joins, image libraries work in tiles, and FlashAttention is a blocked softmax. Compilers can do it too (*loop tiling* in LLVM's Polly or GCC's Graphite), and XLA, TVM and Halide choose tile sizes by search. *Cache-oblivious* algorithms cut recursively instead and need no block size at all; NumPy's transposed copy does neither, as you have seen.

**References**

- M. S. Lam, E. E. Rothberg, M. E. Wolf, *The cache performance and optimizations of blocked algorithms*, ASPLOS 1991.
- M. Frigo, C. E. Leiserson, H. Prokop, S. Ramachandran, *Cache-oblivious algorithms*, FOCS 1999.
- K. Goto, R. A. van de Geijn, *Anatomy of high-performance matrix multiplication*, ACM Transactions on Mathematical Software 34(3), 2008.
- R. E. Bryant, D. R. O'Hallaron, *Computer Systems: A Programmer's Perspective*, chapter 6 (its cache lab counts misses as this module does).

## Next

In a terminal:

    tito test 05       the visible tests, in a process of their own
    tito export 05     your kernels become tinykernels/blocking.py
    tito submit 05     the file to hand in

Then module 06: the blocks go to threads.
"""

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
# 06 Threads: work that adds up, and when it is not faster

| | |
|---|---|
| hours | 4 |
| difficulty | 3 of 5 |
| needs | 02_loops, 03_vectorize; functions as arguments, slices |
| code goes to | `tinykernels/parallel.py` |
| points | 35 by tests, 6 by hand |

After this module you can

- split work so that nothing is lost, nothing is done twice, and nobody waits long for somebody else;
- run a function on several threads and get results, order and exceptions right;
- tell which functions can run at the same time in Python at all, and why a loop of yours cannot;
- see an update get lost, and write a reduction in which none can;
- say beforehand how much faster it can get at most.

Everything here is about threads: several of them in one process, all with the same memory. Nothing in this module starts a process, and nothing in it is graded by a clock.

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
#| default_exp parallel
#| export
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tinykernels.loops import check_count, check_float_array, check_matmul
from tinykernels.vectorized import check_out, vectorized_relu

# %% jupyter={"source_hidden": true}
# Given: what the tests and measurements below use.
import math
import operator
import statistics
import sys
import threading
import time
from collections import Counter
from fractions import Fraction
from functools import partial

from tito.checks import (
    CheckFailed,
    Meeting,
    at_most,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_returns,
    expect_unchanged,
    points,
    rng,
    wait_for,
    worker,
)


def refuse(case, problem, advice):
    """Raise a failed check: what is wrong, and what to try. A hidden test shows the advice alone."""
    function = case.split()[0]
    raise CheckFailed(f"{case}: {problem}\n  try       {advice}", f"{function}: {advice}")


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


def critical_path(jobs):
    """(busiest, wall): CPU seconds of the busiest thread, and seconds on the clock on the wall.

    jobs : (function, *arguments), one for each thread; they begin together
    """
    spent = [0.0] * len(jobs)
    ready = threading.Barrier(len(jobs) + 1)

    def work(place):
        func, *args = jobs[place]
        ready.wait()
        start = time.thread_time()
        func(*args)
        spent[place] = time.thread_time() - start

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return max(spent), time.perf_counter() - start


class Clocked:
    """A kernel with a clock: the CPU seconds of each of its calls, each on the thread it was on."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.seconds = []

    def __call__(self, *args, **kwargs):
        start = time.thread_time()
        result = self.kernel(*args, **kwargs)
        self.seconds.append(time.thread_time() - start)
        return result


def spent(func, *args, **kwargs):
    """(wall, cpu): seconds that a call took on the wall, and CPU seconds of all threads in it."""
    wall, cpu = time.perf_counter(), time.process_time()
    func(*args, **kwargs)
    return time.perf_counter() - wall, time.process_time() - cpu


def times(before, after):
    """How many times as fast, as text; a clock with long ticks may have seen nothing."""
    return f"{before / after:.2f}" if after > 0 else "-"


def new_plot(title, x, y):
    """An empty plot that reads on light and on dark pages; None where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("No plot: matplotlib is not installed. The numbers are printed.")
        return None
    grey = "0.5"
    axes = Figure(figsize=(7.5, 3.6), facecolor="none").add_subplot(facecolor="none")
    axes.set_title(title, color=grey, fontsize=11)
    axes.set_xlabel(x, color=grey)
    axes.set_ylabel(y, color=grey)
    axes.tick_params(which="both", colors=grey)
    axes.spines[:].set_color(grey)
    return axes


def show_plot(axes, alt):
    """Show the plot, with words for those who do not see it."""
    from io import BytesIO

    from IPython.display import Image, display

    png = BytesIO()
    axes.figure.savefig(png, format="png", dpi=110, bbox_inches="tight")
    display(Image(png.getvalue(), alt=alt))


BLUE, ORANGE, GREEN, RED = "#56B4E9", "#E69F00", "#009E73", "#D55E00"

# %% [markdown]
"""
## The gap

Adding up the numbers below three million in a Python loop, once on one thread and once on two threads with half of them each (three times in turn; the middle values are shown). Two clocks look on: the CPU time of the *busiest* thread, and the clock on the wall.

**Predict.** With two threads the busiest one has half the work. By how much will its CPU time go down, and by how much your waiting? Write down both ratios, then run the cell.
"""


# %%
def add_up(start, stop):
    """A sum in pure Python."""
    total = 0
    for number in range(start, stop):
        total += number
    return total


# %% tags=["raises-exception"]
#| measure
most = 3_000_000
rounds = [
    (
        critical_path([(add_up, 0, most)]),
        critical_path([(add_up, 0, most // 2), (add_up, most // 2, most)]),
    )
    for _ in range(4)
][1:]  # the first round warms up
alone, halved = np.median(rounds, axis=0)
print("a Python loop             1 thread   2 threads   times as fast")
for what, one, two in zip(("busiest thread, CPU", "on the wall"), alone, halved):
    print(f"{what:24}{one:8.3f} s{two:10.3f} s{times(one, two):>12}")

# %% [markdown]
"""
The work of the busiest thread was halved, and you waited about as long as before (whatever else ran on your machine meanwhile has moved the second number; run the cell again). Both clocks are right. The threads took *turns*: while one of them computed, the other one stood still, and a thread that stands still uses no CPU time.

What they take turns for is the **global interpreter lock**, the GIL. A CPython process has one, and a thread holds it while it runs Python code. A thread that has held it for 5 milliseconds while others wait is asked to hand it on, so that each gets its turn. But some functions give the lock back for as long as they work: those that wait (for a disk, for the network, in `sleep`), and long calls of NumPy, which touch no Python object meanwhile.

<img alt="Two pairs of lanes over time. In the upper pair two threads run a Python loop: their blocks alternate, while one computes the other waits, and a baton, the lock, passes between them. In the lower pair two threads are inside a matrix product: both lanes are filled for the whole time, and the lock is held only for a sliver at the beginning and at the end." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='216' viewBox='0 0 640 216' font-family='sans-serif' font-size='14'><title>Lanes with the lock and without</title>
<path d='M130 30h100v26h-100zM330 30h100v26h-100zM230 62h100v26h-100zM430 62h100v26h-100z' fill='rgb(86,180,233)'/>
<path d='M230 43h100M430 43h100M130 75h100M330 75h100' stroke='rgb(125,125,125)' stroke-width='2' stroke-dasharray='3 5'/>
<path d='M230 53v12M330 53v12M430 53v12' stroke='rgb(213,94,0)' stroke-width='12'/>
<path d='M130 126h8v26h-8zM322 126h8v26h-8zM138 158h8v26h-8zM330 158h8v26h-8z' fill='rgb(86,180,233)'/>
<path d='M138 126h184v26h-184zM146 158h184v26h-184z' fill='rgb(0,158,115)'/>
<g fill='black' text-anchor='middle'><text x='180' y='48'>Python</text><text x='380' y='48'>Python</text><text x='280' y='80'>Python</text><text x='480' y='80'>Python</text><text x='230' y='144'>inside NumPy</text><text x='238' y='176'>inside NumPy</text></g>
<g fill='rgb(125,125,125)'><text x='8' y='48'>thread 1</text><text x='8' y='80'>thread 2</text><text x='8' y='144'>thread 1</text><text x='8' y='176'>thread 2</text><text x='130' y='18'>two Python loops: one lock, in turns</text><text x='130' y='114'>two large products: the lock is given back meanwhile</text><text x='130' y='206'>time runs to the right; dotted: waiting for the lock</text></g>
</svg>">

**Who gives it back?** `gil_ticks` asks a function, without a clock. Read it line by line:

- A second thread, the *ticker*, does nothing but count and let go of the lock.
- `sys.setswitchinterval(1000)` says that nobody is *asked* to hand the lock on before 1000 seconds are over. So from now on the ticker gets it only when somebody gives it back.
- The ticker says itself that it runs (`awake.set()`) before anything counts: a ticker that starts late would be counted for its start.
- Then the function is called, again and again. If it never gives the lock back the ticker stands still, on any machine, however busy: 0 ticks.
"""


# %%
def gil_ticks(func, *args, calls=50):
    """How far another Python thread came while `func` was called so many times."""
    ticks, over, awake = 0, False, threading.Event()

    def tick():
        nonlocal ticks
        awake.set()
        while not over:
            ticks += 1
            time.sleep(0)  # lets go of the lock, and asks for it again

    ticker = threading.Thread(target=tick)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        ticker.start()
        awake.wait()
        start = ticks
        for _ in range(calls):
            func(*args)
        return ticks - start
    finally:
        over = True
        sys.setswitchinterval(before)
        ticker.join()


# %% [markdown]
"""
**Predict.** Eight functions stand in the next cell. For each of them: 0 ticks or more? Write down eight answers before you run it. One pair is the same function, on 100 and on a million elements.
"""

# %% tags=["raises-exception"]
#| measure
words = [str(number) for number in range(20_000)]
few, many = ramp(100), ramp(1_000_000)
square = ramp(300, 300)
room = {x.size: np.empty_like(x) for x in (few, many, square)}
print("another thread came so far while this was called 50 times")
for name, func, *args in (
    ("a Python loop", add_up, 0, 20_000),
    ("sorted(words)", sorted, words),
    ("sum(range(20_000))", sum, range(20_000)),
    ("time.sleep(0.001)", time.sleep, 0.001),
    ("np.exp of 100", np.exp, few, room[few.size]),
    ("np.exp of 1,000,000", np.exp, many, room[many.size]),
    ("np.sort of 1,000,000", np.sort, many),
    ("np.matmul of 300 x 300", np.matmul, square, square, room[square.size].reshape(300, 300)),
):
    ticks = gil_ticks(func, *args)
    print(f"{name:26}{ticks:8,} ticks   {'gives the lock back' if ticks else 'keeps the lock'}")

# %% [markdown]
"""
`sorted` and `sum` are written in C, and keep the lock all the same: they handle Python objects. NumPy gives it back where it expects to be busy for a while. On few elements it does not bother.

So there are two conditions for a gain: the function must give the lock back, and there must be a free core to go on. Nobody promises the second one, on a laptop with a browser open or on a machine that grades a class. That is why nothing in this module is graded by a clock: the tests count who did how much of the work, and let workers *meet*.

**Rules that hold for all kernels of this course.** Wrong types raise `TypeError`, wrong sizes and values `ValueError`, before any work and with a message. Inputs are never changed. Empty inputs are no special case. Each exercise gives you a specification to compare with, `..._spec`; a kernel that calls it earns nothing. The doors come from 02 and 03: `tito export 02 03` puts them into your package.
"""

# %% [markdown]
"""
## Exercise 1: Cut it into fair parts

Everything begins with a range of `n` elements (or rows, or items) and a number of workers. Each worker gets one *band*: neighbours in memory stay together, and one `slice` says it all. Whoever gets the longest band is the last to be done, and the others wait for it. So lengths should differ by 1 at most.

<img alt="Ten cells cut in three ways for four workers. First, two cells each: the last two cells belong to nobody. Second, the rest goes to the last worker, who has four cells where the others have two. Third, two, three, two and three cells: the longest part has three." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='170' viewBox='0 0 640 170' font-family='sans-serif' font-size='14'><title>Ten cells for four workers</title>
<path d='M150 20h58v30h-58zM150 68h58v30h-58zM150 116h58v30h-58z' fill='rgb(86,180,233)'/>
<path d='M210 20h58v30h-58zM210 68h58v30h-58zM210 116h88v30h-88z' fill='rgb(230,159,0)'/>
<path d='M270 20h58v30h-58zM270 68h58v30h-58zM300 116h58v30h-58z' fill='rgb(0,158,115)'/>
<path d='M330 20h58v30h-58zM330 68h118v30h-118zM360 116h88v30h-88z' fill='rgb(204,121,167)'/>
<path d='M391 21h56v28h-56z' fill='none' stroke='rgb(125,125,125)' stroke-width='2' stroke-dasharray='4 4'/>
<g fill='black' text-anchor='middle'><text x='179' y='40'>2</text><text x='239' y='40'>2</text><text x='299' y='40'>2</text><text x='359' y='40'>2</text><text x='179' y='88'>2</text><text x='239' y='88'>2</text><text x='299' y='88'>2</text><text x='389' y='88'>4</text><text x='179' y='136'>2</text><text x='254' y='136'>3</text><text x='329' y='136'>2</text><text x='404' y='136'>3</text></g>
<g fill='rgb(125,125,125)'><text x='8' y='40'>n // 4 each</text><text x='8' y='88'>rest to the last</text><text x='8' y='136'>fair</text><text x='458' y='40'>two belong to nobody</text><text x='458' y='88'>wait for 4</text><text x='458' y='136'>wait for 3</text></g>
</svg>">

Three traps:

- `n // parts` for each leaves up to `parts - 1` elements to nobody.
- The whole rest for the last worker is up to `parts - 1` elements more than the others have.
- Four workers for three elements: one of them has nothing to do, and an empty band is one more call for nothing. Use fewer parts then.

**Predict.** 1,003 rows for 4 workers: how many rows does the busiest one have when all of the rest goes to the last, and how many when it is shared? And 7 rows?
"""


# %% jupyter={"source_hidden": true}
# Given: what the tests say about bands.
def check_bands(bands, n, parts):
    """A failed check unless the slices cut 0..n as the contract of `split` says."""
    case = f"split  n={n}, parts={parts}"
    if type(bands) is not list or any(type(band) is not slice for band in bands):
        refuse(case, "this is no list of slices", "return a list of slice(start, stop)")
    try:
        edges = [(operator.index(b.start), operator.index(b.stop)) for b in bands]
    except TypeError:
        refuse(case, "an edge is no whole number", "start and stop are whole numbers: use //")
    done = 0
    for start, stop in edges:
        if start >= stop:
            refuse(case, f"slice({start}, {stop}) is empty", "clamp parts to n")
        if start != done:
            who = "nobody" if start > done else "two slices"
            first, last = min(start, done), max(start, done) - 1
            refuse(
                case, f"elements {first}..{last} belong to {who}", "go on where the last one ended"
            )
        done = stop
    if done < n:
        refuse(case, f"elements {done}..{n - 1} belong to nobody", "share out the rest as well")
    if done > n:
        refuse(case, f"the last slice ends at {done}", "stop at n: element loops need it")
    sizes = [stop - start for start, stop in edges]
    if sizes and max(sizes) - min(sizes) > 1:
        who = "the last" if sizes[-1] == max(sizes) else "one"
        more = f"{who} worker has {max(sizes) / min(sizes):.1f} times the work of another"
        refuse(case, more, f"{n} = {parts} * {n // parts} + {n % parts}: share out the rest by one")
    if len(bands) != min(n, parts):
        refuse(case, f"cut into {len(bands)} parts", "as many as asked for, but none that is empty")


# %% nbgrader={"grade": false, "grade_id": "split", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
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
    # Hint: after i of the parts, i / parts of the way is done, rounded to a whole. About 3 lines.
    ### BEGIN SOLUTION
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "split-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for n, parts in (
    (6, 3),
    (7, 3),
    (10, 4),
    (11, 4),
    (1, 1),
    (5, 1),
    (4, 4),
    (3, 5),
    (0, 2),
    (1003, 4),
):
    check_bands(split(n, parts), n, parts)
check_bands(split(3, 2**40), 3, 2**40)
for n, parts in ((5, 0), (-1, 2)):
    expect_raises(ValueError, split, n, parts, hint="n from 0 on, parts from 1 on: check_count")
for n, parts in ((5, 2.0), (5.0, 2), (5, True)):
    expect_raises(TypeError, split, n, parts, hint="check_count refuses what is no whole number")

# %% nbgrader={"grade": true, "grade_id": "split-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
drawn = rng("split-hidden").integers(1, 40, size=(25, 2)).tolist()
for n, parts in (*drawn, (2, 1), (2, 3), (12, 12), (13, 12), (23, 12), (999, 1000), (0, 1)):
    check_bands(split(n, parts), n, parts)
check_bands(split(parts=7, n=10**9), 10**9, 7)
check_bands(split(2**53 + 1, 2), 2**53 + 1, 2)
check_bands(split(np.int64(9), np.int32(4)), 9, 4)
for n, parts in ((0, 0), (4, -3), (-5, 1)):
    expect_raises(ValueError, split, n, parts, hint="also for n = 0: parts from 1 on")
for n, parts in ((4, "2"), (None, 2), (4, 1.5), (False, 1)):
    expect_raises(TypeError, split, n, parts, hint="no whole number: TypeError")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
print("rows for the busiest worker; in brackets the speed-up that is left of it\n")
print("  rows  workers      rest to the last          n / parts, rounded up               yours")
for n in (7, 50, 1003):
    for parts in (4, 8, 32):
        each = max(1, n // parts)
        uneven = n - each * (min(n, parts) - 1)
        up = -(-n // parts)
        try:
            mine = max(band.stop - band.start for band in split(n, parts))
        except NotImplementedError:
            mine = None
        texts = [f"{rows:6} ({n / rows:5.2f})" for rows in (uneven, up, *([mine] if mine else []))]
        print(f"{n:6}{parts:9}" + "".join(f"{text:>22}" for text in texts), end="")
        print("" if mine else "     left out: not written yet")

# %% [markdown]
"""
Rounding up is as good as yours for the busiest worker; others may then have nothing at all, which is fine as long as you know. With many rows for each worker it hardly matters who gets the rest. With few it decides everything: 7 rows on 4 workers are 3.5 times as fast at most, and not 4.

The numbers in brackets are a speed-up in *work*: all rows over the rows of the busiest. No clock goes into it. It is an upper limit for what a clock can ever show, and it is what the tests of exercises 3 and 5 ask for.
"""

# %% [markdown]
"""
## Exercise 2: Run it on threads

Now somebody has to do it. A *pool* of threads takes items from a queue: whoever is free takes the next one. `concurrent.futures.ThreadPoolExecutor` from the standard library is such a pool:

    with ThreadPoolExecutor(workers) as pool:      starts threads when they are needed
        future = pool.submit(func, item)           puts a call into the queue, and goes on at once
        future.result()                            waits for it; raises what func raised
    ...                                            the end of `with` waits until all are done

`pool.map(func, items)` submits one call for each item, and then hands out the results in the order of the items.

<img alt="Two workers take items from a queue. The first is busy with item 0 for a long time, the second does items 1, 2, 3 and 4 meanwhile, and the first goes on with item 5. Below, the results lie in a row of six places, in the order of the items." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='176' viewBox='0 0 640 176' font-family='sans-serif' font-size='14'><title>A queue and two workers</title>
<path d='M120 16h300v32h-300z' fill='rgb(86,180,233)'/><path d='M424 16h96v32h-96z' fill='rgb(86,180,233)' fill-opacity='0.55'/>
<path d='M120 60h96v32h-96zM220 60h96v32h-96zM320 60h96v32h-96zM420 60h96v32h-96z' fill='rgb(230,159,0)'/>
<path d='M120 124h40v32h-40zM164 124h40v32h-40zM208 124h40v32h-40zM252 124h40v32h-40zM296 124h40v32h-40zM340 124h40v32h-40z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g fill='black' text-anchor='middle'><text x='270' y='37'>item 0, a long one</text><text x='472' y='37'>item 5</text><text x='168' y='81'>item 1</text><text x='268' y='81'>item 2</text><text x='368' y='81'>item 3</text><text x='468' y='81'>item 4</text></g>
<g fill='rgb(125,125,125)' text-anchor='middle'><text x='140' y='145'>0</text><text x='184' y='145'>1</text><text x='228' y='145'>2</text><text x='272' y='145'>3</text><text x='316' y='145'>4</text><text x='360' y='145'>5</text></g>
<g fill='rgb(125,125,125)'><text x='8' y='37'>worker 1</text><text x='8' y='81'>worker 2</text><text x='8' y='145'>results</text><text x='396' y='145'>in the order of the items</text></g>
</svg>">

What a user of your function may expect, and what naive code gets wrong:

- *Order.* Result `i` belongs to item `i`, whoever was ready first. `as_completed` hands out futures in the order in which they end.
- *Exceptions.* What `func` raised reaches the caller. A future whose `result()` nobody asks for keeps its exception to itself. If several items fail, the first *in the order of the items* is raised, so that the same input always raises the same.
- *An end.* When your function comes back, with a result or with an exception, no worker is still inside `func`.
- *A limit.* Somebody will ask for 1,000,000 workers. A thread has a stack and costs time to start: no more threads than items, and no more than four for each core.
- *No thread for nothing.* One worker or one item needs no thread: call `func` here.

**How the tests see it.** They hand in a function with a *meeting* inside: a door that opens for two. Whoever comes first waits until a second one stands beside him, then both pass. A loop that does one item after the other never gets through; after five seconds the door says so. On however slow a machine, two threads that really are on their way at the same time will meet: seconds in which the machine had no core for them do not count.

You write two functions: `worker_count` decides how many, `run_threads` runs them. `usable_cores` is given.

**Predict.** `time.sleep(0.02)` eight times, on 1, 2, 4 and 8 workers, on your machine with its number of cores: how long does each take?
"""


# %%
#| export
def usable_cores():
    """How many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# %% jupyter={"source_hidden": true}
# Given: what the tests say about order, and operations that wait for one another.
def check_order(got, want, function="run_threads"):
    """A failed check where results do not lie in the order of their items."""
    if type(got) is list and got != want and Counter(map(repr, got)) == Counter(map(repr, want)):
        place = next(i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1])
        refuse(
            function,
            f"result {place} came from item {want.index(got[place])}",
            "results in the order of the items: keep the futures in a list, ask them in turn",
        )
    hint = "one result for each item, in the order of the items"
    if type(got) is list and len(got) == len(want) and None in got:
        hint = (
            f"item {got.index(None)} has no result: its thread was still at work, or ended with an "
            "exception. Wait for all threads, and ask every future for its result()"
        )
    expect_equal(got, want, case=f"of {function}", hint=hint)


def never_more_than(most):
    """An operation that fails where more threads than that are in it at the same time."""
    one_more = Meeting(most + 1, seconds=0.5)

    def operation(item):
        try:
            one_more()
        except CheckFailed:
            return item  # nobody else came, as it should be
        advice = "give ThreadPoolExecutor the number that worker_count returned"
        refuse("run_threads", f"{most + 1} threads at the same time, {most} are allowed", advice)

    return operation


def late_first_item():
    """An operation whose item 0 ends only after another thread has done one and begun the next."""
    turn, begun = threading.Condition(), Counter()

    def others_ahead():
        me = worker()
        return any(count > 1 for who, count in begun.items() if who != me)

    def operation(item):
        with turn:
            begun[worker()] += 1
            turn.notify_all()
            if item == 0:
                wait_for(turn, others_ahead)
        if item == 0:
            time.sleep(0.05)
        return 10 * item

    return operation


def long_first_item(count):
    """An operation whose item 0 ends only after all `count` items have been begun."""
    turn, begun = threading.Condition(), set()

    def operation(item):
        with turn:
            begun.add(item)
            turn.notify_all()
            if item or wait_for(turn, lambda: len(begun) == count):
                return item
            waiting = sorted(set(range(count)) - begun)
        advice = "hand out single items, not a band for each worker: who is free takes the next"
        refuse("run_threads", f"items {waiting} wait behind item 0, though a worker is free", advice)

    return operation


# %% nbgrader={"grade": false, "grade_id": "run_threads", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
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
    # Hint: min and max. About 4 lines.
    ### BEGIN SOLUTION
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))
    ### END SOLUTION


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
    # Hint: pool.map hands out results in the order of the items. About 5 lines.
    ### BEGIN SOLUTION
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "run_threads-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
cores = usable_cores()
for num_workers, tasks, want, hint in (
    (2**40, 10**6, 4 * cores, "four for each core are allowed, and enough"),
    (3, 10, min(3, 4 * cores), "what was asked for, where nothing speaks against it"),
    (8, 3, min(3, 4 * cores), "more workers than tasks are no use"),
    (None, 10**6, cores, "None means one for each core"),
    (2, 0, 1, "at least 1, also where there is nothing to do"),
):
    expect_equal(worker_count(num_workers, tasks), want, hint=hint)

check_order(run_threads(abs, [-4, 2, -1, 0, -7], 2), [4, 2, 1, 0, 7])
expect_equal(run_threads(abs, [], 3), [], hint="nothing to do gives an empty list")
meet = Meeting(2, function="run_threads")


def met(item):
    """Two items at the same time, again and again."""
    meet()
    return 10 * item


check_order(run_threads(met, [4, 0, 3, 1, 2, 5], 2), [40, 0, 30, 10, 20, 50])
expect_equal(run_threads(never_more_than(2), [5, 6, 7, 8, 9], 2), [5, 6, 7, 8, 9])
check_order(run_threads(late_first_item(), [0, 1, 2, 3, 4, 5], 2), [0, 10, 20, 30, 40, 50])
check_order(run_threads(long_first_item(6), [0, 1, 2, 3, 4, 5], 2), [0, 1, 2, 3, 4, 5])
here, hint = worker(), "one worker or one item: call func here, on the thread that called you"
for items, num_workers in (([7], 4), ([7, 8], 1)):
    want = [here] * len(items)
    got = run_threads(lambda _: worker(), items, num_workers)
    expect_equal(got, want, case=f"threads at work, {num_workers=}, {items=}", hint=hint)

together, ended = Meeting(2, function="run_threads"), []


def one_fails(item):
    """Both items are on their way, then item 0 fails at once and item 1 goes on for a while."""
    together()
    if item == 0:
        raise ValueError("item 0 is bad")
    time.sleep(0.2)
    ended.append(item)


try:
    expect_returns(run_threads, one_fails, [0, 1], 2, hint="what func raises must reach the caller")
except ValueError:
    if ended != [1]:
        advice = "close the pool, and wait for its workers: `with` does both"
        refuse("run_threads", "it came back while a worker was still inside func", advice)
else:
    advice = "ask every future for its result(), which raises it"
    refuse("run_threads", "the ValueError of item 0 was lost", advice)
for num_workers in (0, -1):
    expect_raises(ValueError, run_threads, abs, [1, 2], num_workers, hint="from 1 on: check_count")
for num_workers in (2.0, True, "2"):
    expect_raises(TypeError, run_threads, abs, [1, 2], num_workers, hint="check_count says so")

# %% nbgrader={"grade": true, "grade_id": "run_threads-hidden", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 3 points, checked after hand-in
### BEGIN HIDDEN TESTS
cores = usable_cores()
drawn = rng("run_threads-hidden").integers(1, 9 * cores, size=(30, 2)).tolist()
for num_workers, tasks in (*drawn, (1, 1), (4 * cores, 10**9), (4 * cores + 1, 10**9)):
    want = min(num_workers, tasks, 4 * cores)
    got = worker_count(num_workers, tasks)
    expect_equal(got, want, hint="the smallest of the three limits")
got = worker_count(tasks=5, num_workers=np.int64(2))
expect_equal(got, 2, hint="NumPy integers are whole numbers; arguments by name")
expect_equal(worker_count(None, 1), 1, hint="None has the same limits")
expect_raises(ValueError, worker_count, 0, 0, hint="also where there is nothing to do")
expect_raises(TypeError, worker_count, 1.0, 3, hint="1.0 is no whole number")

three = Meeting(3, function="run_threads")


def triple(item):
    """Three items at the same time."""
    three()
    return [item, item]


got = run_threads(num_workers=3, items=(5, 1, 6, 2, 9, 3, 0, 7, 8), func=triple)
want = [[i, i] for i in (5, 1, 6, 2, 9, 3, 0, 7, 8)]
expect_equal(got, want, hint="order, with three workers and nine items in a tuple")
got = run_threads(late_first_item(), [3, 0, 1, 2, 4, 5, 6, 7], 2)
expect_equal(got, [30, 0, 10, 20, 40, 50, 60, 70], hint="results in the order of the items")
expect_equal(
    run_threads(never_more_than(3), [1] * 8, 3), [1] * 8, hint="no more than were asked for"
)
expect_equal(run_threads(lambda _: None, [1, 2, 3], 2), [None] * 3, hint="None is a result as well")
got = run_threads(long_first_item(7), [1, 0, 2, 3, 4, 5, 6], 2)
expect_equal(got, [1, 0, 2, 3, 4, 5, 6], hint="a worker that is free takes the next item")
rows = rng("run_threads-rows").standard_normal((5, 3))
want = [float(row[0]) for row in rows]
got = run_threads(lambda row: float(row[0]), rows, 2)
expect_equal(got, want, hint="the rows of a matrix are items too")

turn, begun = threading.Condition(), set()


def two_fail(item):
    """Item 1 fails only after item 3 is on its way, and item 3 fails at once."""
    with turn:
        begun.add(item)
        turn.notify_all()
        if item == 1:
            wait_for(turn, lambda: 3 in begun)
    if item == 1:
        time.sleep(0.1)
        raise KeyError("item 1")
    if item == 3:
        raise IndexError("item 3")
    return item


try:
    expect_returns(run_threads, two_fail, [0, 1, 2, 3], 2)
except KeyError:
    pass
except IndexError:
    advice = "two items failed: raise what the first one in the order of the items raised"
    refuse("run_threads", "item 3 was faster, but item 1 comes first", advice)
else:
    refuse("run_threads", "two exceptions were lost", "ask every future for its result()")

both, ended = Meeting(2, function="run_threads"), []


def first_fails(item):
    """Both items are on their way, then the first one fails and the second goes on for a while."""
    both()
    if item == "first":
        raise LookupError(item)
    time.sleep(0.2)
    ended.append(item)


try:
    expect_returns(run_threads, first_fails, ("first", "second"), 2)
except LookupError:
    if ended != ["second"]:
        advice = "no worker is inside func when it comes back: close the pool and wait"
        refuse("run_threads", "it came back while a worker was still inside func", advice)
else:
    refuse("run_threads", "a LookupError was lost", "ask every future for its result()")

inner, outer = Meeting(2, function="run_threads"), Meeting(2, function="run_threads")


def nested(item):
    """Uses run_threads itself, as a parallel kernel inside of parallel work does."""
    outer()
    return sum(run_threads(inside, [item, item + 1], 2))


def inside(item):
    inner()
    return item


advice = "a call inside of a call: each needs a pool of its own"
got = expect_returns(run_threads, nested, [10, 20], 2, hint=advice)
expect_equal(got, [21, 41], hint=advice)
for num_workers in (-7, 0):
    expect_raises(ValueError, run_threads, abs, [], num_workers, hint="also where nothing is to do")
for num_workers in (1.5, "4", False):
    expect_raises(TypeError, run_threads, abs, [1], num_workers, hint="also for a single item")
calls = []
expect_raises(ValueError, run_threads, calls.append, [1, 2], 0, hint="ValueError for 0 workers")
expect_equal(calls, [], hint="look at the arguments before any call")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
print(f"{usable_cores()} cores\n\n8 items that sleep for 20 ms     workers   on the wall")
try:
    for workers in (1, 2, 4, 8):
        wall, _ = spent(run_threads, time.sleep, [0.02] * 8, workers)
        print(f"{workers:40}{wall * 1e3:11.0f} ms")
    items = [1.0] * 5_000
    bare, handed = (spent(run_threads, abs, items, workers)[1] / len(items) for workers in (1, 2))
    print(f"\nan item that does nothing: {bare * 1e6:.2f} us of CPU in a loop, ", end="")
    print(
        f"{handed * 1e6:.0f} us through a queue:\nwork worth less than that is better not handed out"
    )
except NotImplementedError:
    print("left out: not written yet")

# %% [markdown]
"""
Sleeping needs no core, so eight workers sleep at the same time on any machine that lets you start them (the limit is four for each core). For work that waits (downloads, files, databases) this is all there is to say about threads in Python. The rest of the module is about work that computes.
"""

# %% [markdown]
"""
## Exercise 3: ReLU in bands

`vectorized_relu` gives the lock back, so two of them run at the same time. Each worker gets a band of `x` and the same band of `out`, *views* both: no element is copied, and no two workers write to the same place.

<img alt="Two matrices of 2 rows and 12 columns, each to be shared by four workers. On the left, cut by rows: two workers get a row each, and two get nothing. On the right the same matrix is seen as one flat strip of 24 elements, since its rows lie one after the other in memory, and each worker gets 6 of them." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='150' viewBox='0 0 640 150' font-family='sans-serif' font-size='14'><title>Rows or a flat strip</title>
<path d='M20 40h264v32h-264zM340 40h130v32h-130z' fill='rgb(86,180,233)'/>
<path d='M20 76h264v32h-264zM474 40h130v32h-130z' fill='rgb(230,159,0)'/>
<path d='M340 76h130v32h-130z' fill='rgb(0,158,115)'/><path d='M474 76h130v32h-130z' fill='rgb(204,121,167)'/>
<g fill='black' text-anchor='middle'><text x='152' y='61'>worker 1: 12</text><text x='152' y='97'>worker 2: 12</text><text x='405' y='61'>worker 1: 6</text><text x='539' y='61'>worker 2: 6</text><text x='405' y='97'>worker 3: 6</text><text x='539' y='97'>worker 4: 6</text></g>
<g fill='rgb(125,125,125)'><text x='20' y='26'>2 rows for 4 workers</text><text x='340' y='26'>24 elements for 4 workers</text><text x='20' y='134'>x[0:1], x[1:2]</text><text x='340' y='134'>x.reshape(-1)[0:6], ...</text></g>
</svg>">

Where `x` and `out` both lie in C order without gaps, cut them *flat*: `x.reshape(-1)` is a view then, and 2 rows are enough for 8 workers. Everything else is cut by rows. Careful: `reshape(-1)` of anything else is a *copy*. Writing into a copy of `out` leaves `out` as it was.

Handing work to threads costs time: what one item costs on the way through the queue you have just measured, and threads have to be started as well. An array with fewer than `min_size` elements is done by one call, here, without a thread.

`kernel` is a parameter for two reasons. In 07 you will hand in a faster one. And the tests hand in kernels that write down *who* called them with *what*.

**Predict.** From how many elements on is it worth it: 1,000, 100,000, 10,000,000? What would you expect of an array that does not fit into any cache?
"""


# %%
def relu_spec(x):
    """ReLU; NaN stays NaN."""
    return np.where(x < 0, x.dtype.type(0), x)


def expect_own_part(function, whole, part):
    """A failed check where a kernel is not asked to write into a part of `out` itself."""
    if part is None:
        advice = "kernel(x_part, out=out_part): without out= it makes an array of its own"
        refuse(function, "the kernel was called without out=", advice)
    if part.size and not np.shares_memory(part, whole):
        advice = "slices of out: an array of its own is extra memory and has to be copied"
        refuse(function, f"the kernel was to write {part.size} elements into another array", advice)


# %% nbgrader={"grade": false, "grade_id": "parallel_relu", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
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
    # Hint: x.flags.c_contiguous, and out's. Then split, and run_threads over the bands. About 9 lines.
    ### BEGIN SOLUTION
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
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parallel_relu-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for x, workers in (
    (ramp(7), 3),
    (ramp(5, 4, dtype=np.float32), 2),
    (ramp(2, 3, 2), 4),
    (ramp(3), 8),
    (ramp(6, 5).copy(order="F"), 4),
    (ramp(9, 3)[::2], 2),
    (ramp(0), 2),
):
    want = relu_spec(x)
    got = expect_unchanged(parallel_relu, x, workers, min_size=0)
    case = f"x {x.shape}, num_workers={workers}, min_size=0"
    hint = "every element belongs to one band: kernel(x[band], out=out[band])"
    expect_equal(got, want, case=case, hint=hint, allow_empty=True)
for order in "CF":
    x, out = ramp(6, 5).copy(order=order), np.full((6, 5), 7.0, order=order)
    want, before = relu_spec(x), out.copy()
    got = parallel_relu(x, 4, out=out, min_size=0)
    causes = {
        "reshape(-1) of an array that is not in C order is a copy: out itself was never written": (
            lambda: before,
            "flat only where x and out are both c_contiguous, rows else",
        )
    }
    case = f"of parallel_relu, x and out in {order} order"
    hint = "with out= the result is out itself: return it"
    expect_equal(got is out, True, case=f"{case}: is it out itself", hint=hint)
    filled = out
    expect_equal(filled, want, likely=causes, case=case, hint="fill all of out")
seen = []


def noting(part, out):
    """A kernel that notes who called it with how many elements."""
    seen.append((worker(), part.size))
    np.maximum(part, 0, out=out)


x = ramp(10)
want = relu_spec(x)
got = parallel_relu(x, kernel=noting)
if not seen:
    advice = "kernel(x_part, out=out_part): vectorized_relu is only what it is if none is handed in"
    refuse("parallel_relu", "it never called the kernel that was handed in", advice)
hint = "10 elements need no thread: below min_size one call, here"
expect_equal((got, seen)[1], [(worker(), 10)], case="(thread, elements) of each call", hint=hint)
if got is None:
    advice = "return out: what a kernel returns is not used"
    refuse("parallel_relu", "it returned None, as the kernel did, which only fills its out", advice)
expect_equal(got, want, hint="use the kernel that was handed in")
for what, out in bad_outs(x, x.shape):
    expect_raises(ValueError, parallel_relu, x, 2, out, hint=f"out is {what}: ask check_out")
expect_raises(ValueError, parallel_relu, x, 0, hint="no worker at all: worker_count says so")
expect_raises(TypeError, parallel_relu, [1.0, -1.0], hint="begin with check_float_array")

# %% nbgrader={"grade": true, "grade_id": "parallel_relu-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("parallel_relu-hidden").standard_normal
for shape in ((1,), (2,), (33,), (1, 7), (13, 5), (0, 3), (3, 0), (2, 3, 4, 2)):
    for dtype, workers in ((np.float32, 2), (np.float64, 3), (np.float64, None)):
        x = normal(shape).astype(dtype)
        want = relu_spec(x)
        got = expect_fresh(parallel_relu, x, workers, min_size=1)
        hint = "any shape, both dtypes, any number of workers, a new array"
        expect_equal(got, want, allow_empty=True, hint=hint)
for name, x in layouts(normal((6, 4))):
    want = relu_spec(x)
    got = expect_unchanged(parallel_relu, x, 3, min_size=1)
    expect_equal(got, want, hint=f"x may be {name}; leave it as it is")
x = normal((6, 4))
want, whole = relu_spec(x), np.full((12, 8), 7.0)
for out in (whole[1::2, ::-2], np.full((6, 4), 7.0, order="F"), np.full((6, 4), 7.0)):
    got = parallel_relu(out=out, x=x, num_workers=3, min_size=1)
    expect_equal(
        got is out, True, hint="with out= the result is out itself, also where it is a view"
    )
    expect_equal(out.copy(), want, hint="out in any layout, whatever the layout of x")
expect_equal(whole[::2], np.full((6, 8), 7.0), hint="what lies between the elements of out stays")
x = np.array([1, np.nan, -1, -np.inf, np.inf], np.float32)
want = relu_spec(x)
expect_equal(parallel_relu(x, 2, min_size=1), want, hint="NaN stays NaN in every band")
x = normal(40_000)
want = relu_spec(x)
for workers in (2**40, 1000, np.int64(3)):
    expect_equal(parallel_relu(x, workers), want, hint="any number of workers gives the same")
for order, other in ("CF", "FC"):
    flat, mixed = normal((6, 4)).copy(order=order), np.full((6, 4), 7.0, order=other)
    want = relu_spec(flat)
    parallel_relu(flat, 3, mixed, min_size=1)
    hint = "flat only where x and out are both c_contiguous: else out.reshape(-1) is a copy"
    expect_equal(mixed.copy(), want, hint=hint)
calls = []
for size in (1, 10**6):
    small = normal((6, 4))
    for what, out in bad_outs(small, (6, 4)):
        expect_raises(
            ValueError,
            parallel_relu,
            small,
            2,
            out,
            lambda part, out: calls.append(out.size),
            size,
            hint=f"out is {what}: check_out, before any call of the kernel, whatever it checks",
        )
expect_equal(calls, [], hint="check_out before any call of the kernel")
got = parallel_relu(x[:600], 2**40, kernel=lambda part, out: calls.append(out.size), min_size=1)
many = min(600, 4 * usable_cores())
hint = "one call for each worker, and worker_count says how many those are"
expect_equal((got.shape, len(calls))[1], many, hint=hint)
for workers in (-1, np.int32(0)):
    expect_raises(ValueError, parallel_relu, x[:5], workers, hint="also below min_size")
for workers in (1.5, True, "2"):
    expect_raises(TypeError, parallel_relu, x[:5], workers, hint="no whole number: TypeError")
expect_raises(TypeError, parallel_relu, np.arange(3), hint="integers: TypeError from the door")
expect_raises(TypeError, parallel_relu, x[:3], out=[0.0] * 3, hint="out is a list: TypeError")


def broken(part, out):
    raise OverflowError("a kernel that fails")


expect_raises(OverflowError, parallel_relu, x, 2, kernel=broken, hint="what the kernel raises")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "parallel_relu-work", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
x, out = ramp(6, 7), np.full((6, 7), 7.0)
want = relu_spec(x)
expect_equal(parallel_relu(x, 4, min_size=1), want, hint="right values first")
meet, parts = Meeting(4, function="parallel_relu"), []


def signing(part, out=None):
    """A kernel that writes its thread's number into its part, once all four are at work."""
    expect_own_part("parallel_relu", whole, out)
    parts.append(part.size)
    if len(parts) > 4:
        refuse("parallel_relu", "more than four calls for four workers", "one band for each worker")
    meet()
    out[...] = worker()


whole = out
got = parallel_relu(x, 4, out=out, kernel=signing, min_size=1)
expect_equal(got is out, True, hint="with out= the result is out itself")
signed, sizes = np.unique(out, return_counts=True)
hint = "four bands, each written by a thread of its own"
expect_equal(len(signed), 4, case="threads that wrote into out", hint=hint)
points(
    *at_most(
        int(sizes.max()),
        11,
        points=1,
        unit="elements for the busiest of four workers, of 42",
        hint="cut the flat array, x.reshape(-1): 6 rows are too few to be shared evenly",
    )
)

# %% nbgrader={"grade": true, "grade_id": "parallel_relu-work-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
x = rng("parallel_relu-work-hidden").standard_normal((9, 8))[:, ::2]
want = relu_spec(x)
hint = "right values first"
expect_equal(parallel_relu(x, 4, min_size=1), want, hint=hint)
meet, parts = Meeting(4, function="parallel_relu"), []


def signing(part, out=None):
    expect_own_part("parallel_relu", whole, out)
    parts.append(part.size)
    if len(parts) > 4:
        refuse("parallel_relu", "more than four calls for four workers", "one band for each worker")
    meet()
    out[...] = worker()


whole = np.full((9, 4), 7.0)
parallel_relu(x, 4, out=whole, kernel=signing, min_size=36)
hint = "as many elements as min_size: that is no longer below it, so threads work"
signed, sizes = np.unique(whole, return_counts=True)
expect_equal(len(signed), 4, hint=hint)
hint = "each element once: bands do not overlap"
expect_equal(sorted(parts), sorted(sizes.tolist()), hint=hint)
most = int(sizes.max())
hint = "rows shared as evenly as they can be"
points(*at_most(most, 12, points=1, unit="elements for the busiest worker", hint=hint))
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
print("elements       one call            2 workers: busiest call   on the wall   times as fast")
draw = np.random.default_rng(6)
for size in (1_000, 10_000, 100_000, 1_000_000, 8_000_000):
    x = draw.normal(size=size).astype(np.float32)
    y = np.empty_like(x)
    repeats = max(3, min(200, 2_000_000 // size))
    try:
        clocked, walls = {1: Clocked(vectorized_relu), 2: Clocked(vectorized_relu)}, {1: [], 2: []}
        for _ in range(repeats):
            for workers, kernel in clocked.items():
                wall, _ = spent(parallel_relu, x, workers, out=y, kernel=kernel, min_size=0)
                walls[workers].append(wall)
    except NotImplementedError:
        print("left out: not written yet")
        break
    pairs = zip(clocked[2].seconds[::2], clocked[2].seconds[1::2])
    one, two = statistics.median(clocked[1].seconds), statistics.median(map(max, pairs))
    wall = [statistics.median(walls[workers]) for workers in (1, 2)]
    print(f"{size:9,}{one * 1e6:11.0f} us CPU{two * 1e6:18.0f} us CPU", end="")
    print(f"{wall[1] * 1e6:13.0f} us{times(*wall):>12}")

# %% [markdown]
"""
Compare the columns. Of the two CPU times, the busiest of two calls would take one half of the one call if a half of the elements always took half the time. For few elements a call costs something whatever its size; for many, memory has its say, and the busiest is the slower one of two. What the wall clock makes of it depends on how long it takes to start two threads, on whether a second core was free, and for the largest array on memory: two threads that both wait for the same memory do not get twice as much of it. That last limit shows only while both really run at the same time, so it comes and goes with what else your machine does. Run the cell again and see which numbers stay.

And your prediction? Look for the first row, if there is one, from which on two workers gain on the wall: that is where sharing begins to pay *on your machine, for this kernel*. `min_size=32768` is no promise of a gain; it only keeps the worst away, arrays so small that starting threads costs many times the work. ReLU does so little with each element that the gain may begin far above it, or nowhere.
"""

# %% [markdown]
"""
## Exercise 4: A batch

A batch is a list of things that all go through the same operation: images of different sizes, texts, files. `run_threads` has done the hard part. What is left is a name that says what it is for, and a contract that a caller can rely on.

<img alt="Four items of different sizes go into one operation on two workers, and four results come out in the same order." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='120' viewBox='0 0 640 120' font-family='sans-serif' font-size='14'><title>A batch</title>
<path d='M20 40h40v40h-40zM70 50h20v30h-20zM100 30h60v50h-60zM170 60h30v20h-30z' fill='rgb(86,180,233)'/>
<path d='M260 24h120v30h-120zM260 64h120v30h-120z' fill='rgb(230,159,0)'/>
<path d='M440 40h40v40h-40zM490 50h20v30h-20zM520 30h60v50h-60zM590 60h30v20h-30z' fill='rgb(0,158,115)'/>
<path d='M206 60h46m-7 -6l7 6l-7 6M386 60h46m-7 -6l7 6l-7 6' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g fill='black' text-anchor='middle'><text x='320' y='44'>operation</text><text x='320' y='84'>operation</text><text x='40' y='64'>0</text><text x='80' y='70'>1</text><text x='130' y='60'>2</text><text x='185' y='75'>3</text><text x='460' y='64'>0</text><text x='500' y='70'>1</text><text x='550' y='60'>2</text><text x='605' y='75'>3</text></g>
<g fill='rgb(125,125,125)'><text x='20' y='112'>batch_data</text><text x='440' y='112'>results, same order</text></g>
</svg>">

One trap is a matter of spelling. `pool.submit(operation(x))` calls the operation *here*, now, on your thread, and hands its result to the pool as if it were a function. A pool wants the function and its argument apart.

**Predict.** 20,000 tiny items, in chunks of 1, 10, 100 and 1,000 to a task. By what factor does the cost of an item go down from the first to the last?
"""


# %% nbgrader={"grade": false, "grade_id": "parallel_batch_processing", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
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
    # Hint: exercise 2. One line.
    ### BEGIN SOLUTION
    return run_threads(operation, batch_data, num_workers)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parallel_batch_processing-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
meet = Meeting(2, function="parallel_batch_processing")


def measured(x):
    """The sum of an item, once a second one is being worked on."""
    meet()
    return float(x.sum())


whole = []


def noting_lists(item):
    """None for 1. It is called with items, and never with all of them."""
    if isinstance(item, list):
        whole.append(item)
    return None if item == 1 else item


try:
    got = parallel_batch_processing([3, 1, 2], noting_lists, 2)
except TypeError as error:
    if not whole and "callable" not in str(error):
        raise
    advice = "pass the function and its argument apart: submit(operation, x), map(operation, batch)"
    refuse("parallel_batch_processing", f"{error}: you called it yourself", advice)
late = parallel_batch_processing([0, 1, 2, 3, 4, 5], late_first_item(), 2)
check_order(late, [0, 10, 20, 30, 40, 50], "parallel_batch_processing")
expect_equal(got, [3, None, 2], hint="a list; None is a result like others: it keeps its place")
expect_equal(parallel_batch_processing([], measured), [], hint="an empty batch gives []")
batch = [ramp(3), ramp(2, 4), ramp(1), ramp(5, seed=1), ramp(2, 2), ramp(6)]
want = [float(x.sum()) for x in batch]
got = expect_unchanged(parallel_batch_processing, batch, measured, 2)
check_order(got, want, "parallel_batch_processing")
expect_raises(
    ZeroDivisionError,
    parallel_batch_processing,
    [4, 0, 2],
    lambda x: 8 // x,
    2,
    hint="what the operation raises must reach the caller: None in its place hides it",
)
expect_raises(ValueError, parallel_batch_processing, [1, 2], abs, 0, hint="num_workers from 1 on")

# %% nbgrader={"grade": true, "grade_id": "parallel_batch_processing-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
meet = Meeting(3, function="parallel_batch_processing")


def together(item):
    meet()
    return item * item


drawn = rng("parallel_batch_processing-hidden").integers(-50, 50, size=12).tolist()
want = [v * v for v in drawn]
got = parallel_batch_processing(operation=together, num_workers=3, batch_data=tuple(drawn))
expect_equal(got, want, hint="three workers at the same time, results in order; a tuple")
got = parallel_batch_processing(list(range(8)), late_first_item(), 2)
expect_equal(got, [10 * i for i in range(8)], hint="the order of the items, whoever is ready first")
rows = rng("parallel_batch_processing-rows").standard_normal((4, 3))
want = [row.copy() for row in rows]
got = expect_unchanged(parallel_batch_processing, rows, np.copy, 2)
expect_equal(len(got), 4, hint="the items of a matrix are its rows")
for mine, theirs in zip(got, want):
    expect_equal(mine, theirs, hint="the items of a matrix are its rows")
empty = np.zeros((0, 3))
expect_equal(parallel_batch_processing(empty, np.copy), [], hint="no rows give an empty list")
expect_equal(parallel_batch_processing(["ab", "c"], len, None), [2, 1], hint="None workers")
want = [worker()]
expect_equal(parallel_batch_processing([5], lambda _: worker(), 4), want, hint="one item: here")
calls = Counter()
got = parallel_batch_processing([1, 1, 2], lambda item: calls.update([item]), 2)
expect_equal((got, dict(calls))[1], {1: 2, 2: 1}, hint="one call for each item")


def picky(item):
    if item in ("b", "d"):
        raise LookupError(item)
    return item


expect_raises(
    LookupError, parallel_batch_processing, list("abcd"), picky, 3, match="b", hint="first"
)
for workers in (-2, 0):
    expect_raises(ValueError, parallel_batch_processing, [], abs, workers, hint="before any work")
for workers in (2.5, True, "3"):
    expect_raises(TypeError, parallel_batch_processing, [1], abs, workers, hint="no whole number")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
items = list(range(20_000))


def whole_chunk(chunk):
    return [abs(item) for item in chunk]


print("items to a task      tasks     CPU for an item")
try:
    costs = {}
    for size in (1, 10, 100, 1_000):
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        costs[size] = spent(parallel_batch_processing, chunks, whole_chunk, 2)[1] / len(items)
        print(f"{size:15,}{len(chunks):11,}{costs[size] * 1e6:17.2f} us")
    print(f"\n{times(costs[1], costs[1_000])} times as cheap in large chunks")
except NotImplementedError:
    print("left out: not written yet")

# %% [markdown]
"""
Chunks are a bargain between two losses. A task for every item pays the price of the queue for every item. One chunk for each worker pays it least, and then the worker with the slow items is the last, while the others have nothing left to take. Some chunks for each worker, say four, are a good first guess when items differ.
"""

# %% [markdown]
"""
## Exercise 5: A matrix product in row bands

Rows of `c = a b` do not need each other. A worker takes a band of rows of `a`, all of `b`, and fills the same band of `c`:

    c[rows]  =  a[rows]  b

<img alt="Three matrices, c equals a times b. c and a are cut into four bands of rows, each band in the colour of one worker. b is one block that all four read. Beside them a second way: a cut by columns and b by rows, where all workers would have to add into the whole of c." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='186' viewBox='0 0 640 186' font-family='sans-serif' font-size='14'><title>Bands of rows, and what not to do</title>
<path d='M20 40h90v24h-90zM140 40h60v24h-60z' fill='rgb(86,180,233)'/><path d='M20 66h90v24h-90zM140 66h60v24h-60z' fill='rgb(230,159,0)'/><path d='M20 92h90v24h-90zM140 92h60v24h-60z' fill='rgb(0,158,115)'/><path d='M20 118h90v24h-90zM140 118h60v24h-60z' fill='rgb(204,121,167)'/>
<path d='M214 40h90v60h-90z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M361 41h88v100h-88z' fill='none' stroke='rgb(213,94,0)' stroke-width='3'/>
<path d='M480 40h30v102h-30zM550 40h88v30h-88z' fill='rgb(86,180,233)'/><path d='M512 40h30v102h-30zM550 72h88v30h-88z' fill='rgb(230,159,0)'/>
<g fill='rgb(125,125,125)' text-anchor='middle'><text x='124' y='96'>=</text><text x='65' y='160'>c</text><text x='170' y='160'>a</text><text x='259' y='118'>b, read by all</text><text x='465' y='96'>=</text><text x='405' y='88'>everybody</text><text x='405' y='106'>adds here</text><text x='511' y='160'>a</text><text x='594' y='122'>b</text></g>
<g fill='rgb(125,125,125)'><text x='20' y='24'>rows: nobody shares a place to write</text><text x='360' y='24'>cut along k: all write everywhere</text></g>
</svg>">

The other way, a piece of the inner sum for each worker, needs less of `b` for each and ends in disaster: all of them add to the same elements of `c`. Exercise 6 shows what happens then.

`kernel` is `np.matmul` unless somebody hands in another one. It gives the lock back. It may also use threads of its own, and then there are twice as many as you think: the measurement below keeps the BLAS to one thread first, and then lets it go.

**Predict.** Two workers, one with a quarter of the rows and one with three quarters: how many times as fast as one worker, at most? And what happens when each of two workers calls a BLAS that uses two threads itself?
"""


# %% jupyter={"source_hidden": true}
# Given: a specification, whole numbers as inputs, and a kernel that keeps the books.
def matmul_spec(a, b):
    """The product in float64, one row of the result after the other."""
    rows = [(row[:, None] * b.astype(float)).sum(axis=0) for row in a.astype(float)]
    return np.array(rows, a.dtype).reshape(a.shape[0], b.shape[1])


def whole_numbers(m, n, seed=0, dtype=np.float64):
    """Small whole numbers in mixed order: sums of their products are exact."""
    return ((7 * np.arange(m * n) + 3 * seed) % 11 - 5).astype(dtype).reshape(m, n)


class Ledger:
    """A kernel that keeps the books: which rows of a, into which rows of out, on which thread.

    a's first column must hold the numbers of its rows; out is the array that parallel_matmul got.
    """

    def __init__(self, a, b, out, parties):
        self.a, self.b, self.out = a, b, out
        self.parties, self.meet = parties, Meeting(parties, function="parallel_matmul")
        self.calls = []
        self.rows = {}  # thread -> numbers of the rows it wrote

    def __call__(self, a, b, out=None):
        if a.shape[1] != self.a.shape[1]:
            problem = f"the kernel got {a.shape[1]} of {self.a.shape[1]} columns of a"
            advice = "cut the rows of a: else two workers add to the same rows of out and lose some"
            refuse("parallel_matmul", problem, advice)
        expect_own_part("parallel_matmul", self.out, out)
        if not np.shares_memory(b, self.b):
            advice = "b is only read: all workers can share it"
            refuse("parallel_matmul", f"a copy of b, {b.nbytes} bytes, for a worker", advice)
        self.calls.append(len(a))
        if len(self.calls) > self.parties:
            problem = f"more than {self.parties} calls for {self.parties} workers"
            refuse("parallel_matmul", problem, "one band of rows for each worker")
        self.meet()
        self.rows.setdefault(worker(), []).extend(int(v) for v in a[:, 0])
        out[...] = np.matmul(a, b)

    def busiest(self):
        """Rows of the thread that has most of them; each row must have been done once."""
        if not self.rows:
            refuse(
                "parallel_matmul", "the kernel was not called", "kernel(a[rows], b, out=out[rows])"
            )
        done = Counter(row for rows in self.rows.values() for row in rows)
        twice = [row for row, count in done.items() if count > 1]
        if twice or len(done) != len(self.a):
            problem = f"rows {sorted(twice)} were done twice" if twice else "not all rows were done"
            refuse("parallel_matmul", problem, "each row belongs to one worker: use split")
        return max(len(rows) for rows in self.rows.values())


def booked(m, k, n, seed=0):
    """a with the numbers of its rows in the first column, b, and an out to fill."""
    a, b = whole_numbers(m, k, seed), whole_numbers(k, n, seed + 1)
    a[:, 0] = np.arange(m)
    return a, b, np.full((m, n), 7.0)


# %% nbgrader={"grade": false, "grade_id": "parallel_matmul", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
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
    # Hint: as in exercise 3, with the rows alone. About 6 lines.
    ### BEGIN SOLUTION
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)
    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parallel_matmul-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b, out = whole_numbers(7, 3), whole_numbers(3, 4, seed=1), np.full((7, 4), 7.5)
want = matmul_spec(a, b)
got = parallel_matmul(a, b, 3, out=out)
expect_equal(got is out, True, hint="with out= the result is out itself: return it")
empty = np.flatnonzero((out == 7.5).all(axis=1)).tolist()
if empty:
    advice = "bands of split(m, workers) leave out no row, and run_threads waits for its threads"
    refuse("parallel_matmul", f"rows {empty} of out were not written when it came back", advice)
expect_equal(out, want, hint="fill all of out, whatever stood in it")
for m, k, n, workers in ((6, 3, 4, 2), (7, 5, 2, 3), (5, 0, 3, 2), (1, 4, 3, 4), (2, 2, 2, 8)):
    for dtype in (np.float64, np.float32):
        a, b = whole_numbers(m, k, dtype=dtype), whole_numbers(k, n, seed=1, dtype=dtype)
        want = matmul_spec(a, b)
        got = expect_unchanged(parallel_matmul, a, b, workers)
        case = f"a ({m}, {k}), b ({k}, {n}), num_workers={workers}"
        hint = "out[rows] = a[rows] b for every band of rows; k = 0 gives zeros"
        expect_equal(got, want, case=case, hint=hint)
a, b = whole_numbers(5, 3), whole_numbers(3, 4, seed=1)
for what, out in bad_outs(a, (5, 4)):
    expect_raises(ValueError, parallel_matmul, a, b, 2, out, hint=f"out is {what}: ask check_out")
expect_raises(ValueError, parallel_matmul, a, a, hint="check_matmul first")
expect_raises(ValueError, parallel_matmul, a, b, 0, hint="no worker at all: worker_count says so")

# %% nbgrader={"grade": true, "grade_id": "parallel_matmul-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
integers = rng("parallel_matmul-hidden").integers
for m, k, n, workers in (
    (0, 2, 3, 2),
    (3, 4, 0, 2),
    (1, 1, 1, 1),
    (13, 5, 11, 4),
    (33, 7, 2, None),
):
    for dtype in (np.float32, np.float64):
        a = integers(-9, 9, (m, k)).astype(dtype)
        b = integers(-9, 9, (k, n)).astype(dtype)
        want = matmul_spec(a, b)
        got = expect_fresh(parallel_matmul, a, b, workers)
        hint = "any size, both dtypes, any number of workers, a new array"
        expect_equal(got, want, allow_empty=True, hint=hint)
left, right = integers(-9, 9, (5, 4)).astype(float), integers(-9, 9, (4, 3)).astype(float)
want = matmul_spec(left, right)
for (name, a), (_, b) in zip(layouts(left), layouts(right)):
    got = expect_unchanged(parallel_matmul, a, b, 3)
    expect_equal(got, want, hint=f"a and b may each be {name}")
whole = np.full((10, 9), 7.0)
for out in (whole[::-2, 1::3], np.full((5, 3), 7.0, order="F")):
    got = parallel_matmul(out=out, b=right, a=left, num_workers=2)
    expect_equal(
        got is out, True, hint="with out= the result is out itself, also where it is a view"
    )
    expect_equal(out.copy(), want, hint="out may be a view with steps, or in Fortran order")
expect_equal(whole[::2], np.full((5, 9), 7.0), hint="what lies between the elements of out stays")
for workers in (2**40, 5, np.int64(2)):
    expect_equal(parallel_matmul(left, right, workers), want, hint="the number of workers")
for workers in (-1, np.int64(0)):
    expect_raises(ValueError, parallel_matmul, left, right, workers, hint="workers from 1 on")
for workers in (2.0, False, "2"):
    expect_raises(TypeError, parallel_matmul, left, right, workers, hint="no whole number")
expect_raises(ValueError, parallel_matmul, left[0], right, hint="two axes each")
expect_raises(TypeError, parallel_matmul, left, right.astype(np.float32), hint="mixed dtypes")


def broken(a, b, out):
    raise OverflowError("a kernel that fails")


expect_raises(OverflowError, parallel_matmul, left, right, 2, None, broken, hint="what it raises")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "parallel_matmul-work", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a, b, out = booked(10, 5, 3)
want = matmul_spec(a, b)
ledger = Ledger(a, b, out, parties=4)
got = parallel_matmul(a, b, 4, out=out, kernel=ledger)
expect_equal(got is out, True, hint="with out= the result is out itself")
expect_equal(out, want, hint="right values first")
points(
    *at_most(
        ledger.busiest(),
        3,
        4,
        points=2,
        unit="rows for the busiest of four workers, of 10",
        hint="the fair share is 3: everybody waits for the busiest, so share out the rest by one",
    )
)

# %% nbgrader={"grade": true, "grade_id": "parallel_matmul-work-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
worst = 0
for m, workers in ((11, 3), (15, 4), (7, 2), (3, 4)):
    a, b, out = booked(m, 4, 5, seed=m)
    want = matmul_spec(a, b)
    ledger = Ledger(a, b, out, parties=min(m, workers))
    got = parallel_matmul(a, b, workers, out=out, kernel=ledger)
    expect_equal(got is out, True, hint="with out= the result is out itself")
    expect_equal(out, want, hint="right values first, with any kernel")
    worst = max(worst, ledger.busiest() - math.ceil(m / workers))
hint = "nobody has more rows than the fair share, rounded up"
points(*at_most(worst, 0, 1, points=2, unit="rows above the fair share", hint=hint))
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import blas

a, b = ramp(640, 640, dtype=np.float32), ramp(640, 640, seed=1, dtype=np.float32)
c = np.empty_like(a)


def product(rows):
    """One band of the product, three times: long enough for any clock."""
    for _ in range(3):
        np.matmul(a[rows], b, out=c[rows])


with blas.one_thread():
    product(slice(0, 640))
    whole = critical_path([(product, slice(0, 640))])
    print("a product on 2 threads, BLAS kept to one thread    busiest, CPU    on the wall")
    for name, edge in (("halves", 320), ("1/4 and 3/4", 160)):
        parts = critical_path([(product, slice(0, edge)), (product, slice(edge, 640))])
        print(
            f"  {name:44}{times(whole[0], parts[0]):>10} times{times(whole[1], parts[1]):>9} times"
        )


def four_products(workers):
    for _ in range(4):
        parallel_matmul(a, b, workers, out=c)


try:
    if blas.threads() is None:
        print(
            "\nThis NumPy's BLAS does not say how many threads it uses: the next table is left out."
        )
    else:
        print("\nparallel_matmul, 4 times               on the wall     CPU of all threads")
        four_products(1)  # the first run warms up
        for workers in (1, 2):
            with blas.one_thread():
                wall, cpu = spent(four_products, workers)
            crews = f"  workers {workers}, threads of the BLAS "
            print(f"{crews}1{wall * 1e3:16.1f} ms{cpu * 1e3:18.1f} ms")
            wall, cpu = spent(four_products, workers)
            print(f"{crews}{blas.threads()}{wall * 1e3:16.1f} ms{cpu * 1e3:18.1f} ms")
except NotImplementedError:
    print("left out: not written yet")

# %% [markdown]
"""
In the first table the column *busiest, CPU* is the critical path: for halves the limit by work is 2, and for a split of one to three it is 4/3, since everybody waits for the three quarters. Measured values scatter around that. The wall shows how much of it reached you just now.

The second is about *who* owns the threads. A BLAS with threads of its own is parallel already, and workers around it add nothing but more threads than cores. Some libraries wait by *spinning*, in a loop that burns CPU time until the others are done: watch the CPU column. Decide on one level: either one call to a BLAS with all cores, or workers of yours around a BLAS with one thread.
"""

# %% [markdown]
"""
## Exercise 6: Counting without losing anything

A histogram: how often does each of the numbers `0 .. bins-1` occur in `x`? Now workers do *not* write to different places: two of them meet a 3 at the same time, and both want to add 1 to `counts[3]`.

`counts[3] += 1` looks like one step, and it is three: read, add, write.

<img alt="Two threads on a time axis and one memory cell that holds 5. Both read 5, one after the other. Both add 1. Both write 6. Two updates, and the cell has gone up by one." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='170' viewBox='0 0 640 170' font-family='sans-serif' font-size='14'><title>A lost update</title>
<path d='M110 20h96v30h-96zM330 20h96v30h-96z' fill='rgb(86,180,233)'/>
<path d='M170 110h96v30h-96zM450 110h96v30h-96z' fill='rgb(230,159,0)'/>
<path d='M100 66h60v28h-60zM400 66h60v28h-60zM560 66h60v28h-60z' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M160 80h240M460 80h100' stroke='rgb(125,125,125)' stroke-width='2' stroke-dasharray='3 5'/>
<path d='M150 64v-10m-5 7l5 -7l5 7M220 94v12m-5 -7l5 7l5 -7M420 52v12m-5 -7l5 7l5 -7M540 108l30 -12m-8 -2l8 2l-4 8' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g fill='black' text-anchor='middle'><text x='158' y='40'>reads 5</text><text x='378' y='40'>writes 6</text><text x='218' y='130'>reads 5</text><text x='498' y='130'>writes 6</text></g>
<g fill='rgb(125,125,125)' text-anchor='middle'><text x='130' y='85'>5</text><text x='430' y='85'>6</text><text x='590' y='85'>6</text></g>
<g fill='rgb(125,125,125)'><text x='8' y='40'>thread 1</text><text x='8' y='85'>counts[3]</text><text x='8' y='130'>thread 2</text><text x='100' y='164'>two updates, and it went from 5 to 6</text></g>
</svg>">

One update is lost, nothing stops, and the sum is a little too small. Worse: on small inputs it never happens. The cell below makes two threads count together, in a shared array, on inputs of growing size.

**Predict.** At which size does the first update get lost: 200, 2,000, 20,000 or 200,000? The lock changes hands after 5 ms at the soonest. How many updates is that?
"""


# %% tags=["raises-exception"]
#| measure
def one_more(count):
    return count + 1


def count_in_three_steps(part, counts):
    """Reads, adds in a function, writes: the lock may change hands at the call."""
    for value in part:
        counts[value] = one_more(counts[value])


def lost_updates(n):
    """How many of n updates are missing after two threads counted into one shared array."""
    counts, half = np.zeros(1, np.int64), [0] * (n // 2)
    critical_path([(count_in_three_steps, half, counts)] * 2)
    return n - int(counts[0])


print("two threads, one shared counter     lost in five runs")
for n in (200, 2_000, 20_000, 200_000):
    lost = [lost_updates(n) for _ in range(5)]
    print(f"{n:17,} updates     " + "".join(f"{v:9,}" for v in lost))

# %% [markdown]
"""
Short runs are over before the lock changes hands, so a test on 2,000 elements passes, again and again, and says nothing. (That `counts[v] += 1` with nothing between read and write would come out right in today's CPython is luck: no rule of the language says where the lock may change hands, and a kernel that gives it back has no such luck.)

**The cure is not a lock around every addition.** Then all of them are in turns again, and slower than one thread. Give each worker a *private* array of counts, and add the arrays up when all workers are done, on one thread. This pattern, private partial results and one merge, is how sums, maxima and histograms are computed on every parallel machine; you will meet it again in 07.

The tests make the loss certain instead of waiting for it: their kernel holds a meeting between each read and each write. With a shared array two workers then lose exactly every second update. With private ones nothing can happen.

`check_labels`, a door, and `count_into`, the slow kernel for one part, are given.
"""


# %%
#| export
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


# %% jupyter={"source_hidden": true}
# Given: a specification, and a kernel that makes a lost update certain.
def histogram_spec(x, bins):
    """Counts by a dictionary."""
    found = Counter(x.tolist())
    return np.array([found[value] for value in range(bins)], np.int64)


class CarefulKernel:
    """count_into with a meeting between each read and each write, and one after it."""

    def __init__(self, parties):
        self.meet = Meeting(parties, function="parallel_histogram")

    def __call__(self, part, counts):
        if type(counts) is not np.ndarray or counts.dtype != np.int64:
            advice = "np.zeros(bins, np.int64) for each worker"
            refuse("parallel_histogram", "the kernel needs counts in an int64 array", advice)
        for value in part.tolist():
            before = int(counts[value])
            self.meet()
            counts[value] = before + 1
            self.meet()


def check_counts(got, x, bins, likely=None):
    """A failed check unless these are the counts; says how many are missing in all."""
    want = histogram_spec(x, bins)
    if type(got) is np.ndarray and got.shape == want.shape and got.sum() != x.size:
        total = got.sum()
        hint = f"the counts add up to {total} for {x.size} elements: add up all private counts"
    else:
        hint = "counts of each label 0 .. bins - 1, int64"
    causes = {
        "two threads read 5 and both wrote 6: every second update is lost": (
            lambda: (want + 1) // 2,
            "a private array of counts for each worker, added up when all are done",
        ),
        "the private counts were never added up": lambda: np.zeros_like(want),
    }
    expect_equal(
        got, want, likely=causes, hint=hint, case=f"of parallel_histogram, x ({x.size},), {bins=}"
    )


def check_many_bins(parallel_histogram, workers):
    """Adding up takes its time where bins are many: workers that do it meet, and lose counts."""
    x, bins = np.arange(64) % 7, 2**19
    hint = "add the private counts up after run_threads: workers that add to one total lose some"
    for _ in range(4):
        total = int(parallel_histogram(x, bins, workers).sum())
        case = f"sum of all counts, x (64,), {bins=}, num_workers={workers}"
        expect_equal(total, 64, case=case, hint=hint)


# %% nbgrader={"grade": false, "grade_id": "parallel_histogram", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
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
    # Hint: np.zeros((number of bands, bins), np.int64), one row for each worker. About 6 lines.
    ### BEGIN SOLUTION
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)
    private = np.zeros((len(bands), bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return private.sum(axis=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parallel_histogram-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for x, bins, workers in (
    (np.array([2, 0, 2, 2]), 4, 2),
    (np.arange(23) % 5, 5, 3),
    (np.zeros(101, np.int32), 1, 4),
    (np.array([7], np.uint8), 9, 4),
    (np.zeros(0, np.int64), 3, 2),
):
    got = expect_unchanged(parallel_histogram, x, bins, workers)
    check_counts(got, x, bins)
sizes, hint = [], "the kernel counts, once for each band of split(n, workers)"


def recorded(part, counts):
    """count_into, and the size of each part that it is called with."""
    sizes.append(part.size)
    count_into(part, counts)


got = parallel_histogram(np.arange(12) % 2, 2, 2, kernel=recorded)
expect_equal((got, sizes)[1], [6, 6], case="sizes of the kernel's parts", hint=hint)
for x, bins in ((np.full(12, 3), 5), (np.arange(12) % 2, 2)):
    check_counts(parallel_histogram(x, bins, 2, kernel=CarefulKernel(2)), x, bins)
check_many_bins(parallel_histogram, 4)
for labels in ([0, 4], [-1, 2]):
    expect_raises(
        ValueError, parallel_histogram, np.array(labels), 4, hint="begin with check_labels"
    )
expect_raises(TypeError, parallel_histogram, np.array([0.0, 1.0]), 4, hint="labels are integers")
expect_raises(ValueError, parallel_histogram, np.array([0, 1]), 2, 0, hint="workers from 1 on")

# %% nbgrader={"grade": true, "grade_id": "parallel_histogram-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
integers = rng("parallel_histogram-hidden").integers
for n, bins, workers in (
    (1, 1, 1),
    (7, 3, 2),
    (61, 10, 4),
    (211, 2, 3),
    (97, 100, None),
    (0, 1, 3),
):
    for dtype in (np.int64, np.uint16, np.int8):
        x = integers(0, bins, n).astype(dtype)
        want = histogram_spec(x, bins)
        got = expect_fresh(parallel_histogram, x, bins, workers)
        hint = "any integer dtype, any number of workers; a new int64 array"
        expect_equal(got, want, hint=hint)
for parties, n in ((3, 33), (4, 40)):
    x = np.full(n, 1)
    want = histogram_spec(x, 3)
    got = parallel_histogram(x, 3, parties, kernel=CarefulKernel(parties))
    hint = "every worker needs counts of its own, and all of them are added up at the end"
    expect_equal(got, want, hint=hint)
check_many_bins(parallel_histogram, 6)
x = integers(0, 6, 40)
want = histogram_spec(x, 6)
for view in (x[::-1], np.repeat(x, 2)[::2]):
    expected = histogram_spec(view, 6)
    got = parallel_histogram(num_workers=3, bins=6, x=view)
    expect_equal(got, expected, hint="views with steps; arguments by name")
sizes = []


def noting(part, counts):
    sizes.append(part.size)
    count_into(part, counts)


got = parallel_histogram(x, 6, 3, noting)
expect_equal(got, want, hint="use the kernel that was handed in")
expect_equal(sorted(sizes), [13, 13, 14], hint="one call for each band of split(n, workers)")
for workers in (2**40, 40, np.int64(2)):
    expect_equal(parallel_histogram(x, np.int64(6), workers), want, hint="any number of workers")
for labels, bins in (([0, 6], 6), ([-1], 6), ([0], 0), ([[0]], 1)):
    expect_raises(ValueError, parallel_histogram, np.array(labels), bins, hint="check_labels first")
for labels, bins in (([True], 2), ([0.0], 2), ([0], 2.0)):
    expect_raises(TypeError, parallel_histogram, np.array(labels), bins, hint="whole numbers")
for workers in (-1, 0):
    expect_raises(ValueError, parallel_histogram, x, 6, workers, hint="workers from 1 on")
expect_raises(TypeError, parallel_histogram, x, 6, 1.5, hint="1.5 workers: TypeError")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
x = np.random.default_rng(7).integers(0, 16, 200_000)
counted = np.bincount(x, minlength=16)
lock = threading.Lock()


def count_with_lock(part, counts):
    """Right, and each addition waits for its turn."""
    for value in part.tolist():
        with lock:
            counts[value] += 1


def shared_and_locked(x):
    counts = np.zeros(16, np.int64)
    halves = np.array_split(x, 2)
    critical_path([(count_with_lock, half, counts) for half in halves])
    return counts


print("200,000 labels in 16 bins                on the wall     CPU of all threads")
for name, count in (
    ("1 worker", lambda x: parallel_histogram(x, 16, 1)),
    ("2 workers, private counts", lambda x: parallel_histogram(x, 16, 2)),
    ("2 threads, shared counts, a lock", shared_and_locked),
    ("np.bincount", partial(np.bincount, minlength=16)),
):
    try:
        right = "" if np.array_equal(count(x), counted) else "   wrong"
        wall, cpu = np.median([spent(count, x) for _ in range(3)], axis=0)
    except NotImplementedError:
        print(f"{name:36}left out: not written yet")
        continue
    print(f"{name:36}{wall * 1e3:13.1f} ms{cpu * 1e3:14.1f} ms{right}")

# %% [markdown]
"""
Private counts are right, and not faster for it. Look at the CPU column: all the work is still there, and since `count_into` is a Python loop that holds the lock all the time, as `gil_ticks` would tell you, two workers can only take turns at it. The pattern is ready for a kernel that gives the lock back; 07 brings one. Compare the row with the lock, too: taking it once for each addition comes on top of the addition.
"""

# %% [markdown]
r"""
## Exercise 7: How much can it be at most?

Let $f$ be the share of the running time that can be split among workers. The rest stays as long as it is. With $w$ workers

$$ \text{speed-up} = \frac{1}{(1 - f) + f / w} $$

That is **Amdahl's law**. With $f = 0.9$ and any number of workers you never reach 10: the tenth that nobody shares is still there.

Turned around it is a diagnosis. From a *measured* speed-up $s$ on $w$ workers follows the share that must have been serial (Karp and Flatt):

$$ e = \frac{1/s - 1/w}{1 - 1/w} $$

If $e$ stays the same for 2, 4 and 8 workers, something serial is in your code. If it grows, the workers get in each other's way: starting them, waiting for memory, waiting for the lock.

**Predict.** Three quarters of the time can be split. How many times as fast with 4 workers, and with 1,000?
"""


# %%
def amdahl_spec(parallel_fraction, workers):
    """By exact fractions: the time of one worker is 1, what is left of it is added up."""
    shared = Fraction(parallel_fraction)
    left = (1 - shared) + shared / Fraction(workers)
    return float(1 / left)


def expect_ratio(got, want, function="amdahl", case="", **words):
    """`got`, a result of that function, is a Python float, or an array, of that value."""
    case = f"of {function}, {case}" if case else f"of {function}"
    expect_close(got, want, inner=6, scale=np.abs(want) + 1, case=case, **words)


# %% nbgrader={"grade": false, "grade_id": "amdahl", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
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
    # Hint: np.asarray(..., dtype=float); NaN fails every comparison. About 5 lines.
    ### BEGIN SOLUTION
    f, w = np.asarray(parallel_fraction, dtype=float), np.asarray(workers, dtype=float)
    if not (((f >= 0) & (f <= 1)).all() and (w >= 1).all()):
        raise ValueError(f"{parallel_fraction=} must be in 0..1 and {workers=} >= 1")
    speedup = 1 / ((1 - f) + f / w)
    return speedup if speedup.ndim else float(speedup)
    ### END SOLUTION


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
    # Hint: as above. About 5 lines.
    ### BEGIN SOLUTION
    s, w = np.asarray(speedup, dtype=float), np.asarray(workers, dtype=float)
    if not ((s > 0).all() and (w > 1).all()):
        raise ValueError(f"{speedup=} must be > 0 and {workers=} > 1")
    fraction = (1 / s - 1 / w) / (1 - 1 / w)
    return fraction if fraction.ndim else float(fraction)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "amdahl-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for fraction, workers in ((0.5, 2), (0.75, 4), (0.9, 1000), (1, 8), (0, 8), (0.25, 1)):
    want = amdahl_spec(fraction, workers)
    causes = {
        "f and 1 - f have changed places: f = 1 must give as many as there are workers": lambda: (
            amdahl_spec(1 - fraction, workers)
        ),
        "this is the time that is left, not the speed-up": lambda: 1 / want,
    }
    hint = "1 / ((1 - f) + f / w), a Python float"
    case = f"f={fraction}, w={workers}"
    expect_ratio(amdahl(fraction, workers), want, likely=causes, case=case, hint=hint)
for speedup, workers, want in ((2.0, 2, 0.0), (1.0, 4, 1.0), (2.0, 3, 0.25), (1.5, 2, 1 / 3)):
    hint = "(1/s - 1/w) / (1 - 1/w); s = w is 0, s = 1 is 1"
    case = f"s={speedup}, w={workers}"
    expect_ratio(serial_fraction(speedup, workers), want, "serial_fraction", case, hint=hint)
fractions, crews = np.array([0.0, 0.5, 1.0]), np.array([1, 2, 4])
want = np.array([amdahl_spec(f, w) for f, w in zip(fractions, crews)])
got = expect_unchanged(amdahl, fractions, crews)
expect_ratio(got, want, hint="arrays in, an array out")
speedups = np.array([1.0, 1.5, 3.0])
want = np.array([1.0, 5 / 9, 1 / 9])
got = expect_unchanged(serial_fraction, speedups, 4)
expect_ratio(got, want, "serial_fraction", hint="an array and a number")
for fraction in (90, -0.1, 1.01):
    hint = "a share of the time: 0 <= f <= 1, and 90 per cent are 0.9"
    expect_raises(ValueError, amdahl, fraction, 4, hint=hint)
expect_raises(ValueError, amdahl, 0.5, 0, hint="workers from 1 on")
hint = "1 - 1/w is 0 for one worker, and the division fails: say so"
expect_raises(ValueError, serial_fraction, 1.0, 1, hint=hint)
expect_raises(ValueError, serial_fraction, 0.0, 4, hint="a speed-up is more than 0")

# %% nbgrader={"grade": true, "grade_id": "amdahl-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("amdahl-hidden")
fractions, crews = draw.uniform(0, 1, 20), draw.integers(2, 200, 20)
want = np.array([amdahl_spec(f, int(w)) for f, w in zip(fractions.tolist(), crews)])
got = expect_fresh(amdahl, workers=crews, parallel_fraction=fractions)
expect_ratio(got, want, hint="arrays of any values; arguments by name")
want = 1 - fractions
got = serial_fraction(workers=crews, speedup=got)
expect_close(got, want, inner=2000, scale=1.0 + crews, hint="what amdahl says, turned around")
want = np.array([[amdahl_spec(f, w) for w in (1, 2, 64)] for f in (0.5, 1.0)])
got = amdahl(np.array([[0.5], [1.0]]), np.array([1, 2, 64]))
expect_ratio(got, want, hint="a column and a row give a table")
expect_equal(float(amdahl(1, 3)), 3.0, hint="whole numbers in, a float out")
for got in (amdahl(np.float64(0.5), np.int64(2)), serial_fraction(1, 2)):
    expect_equal(isinstance(got, float), True, hint="a float, or np.float64, which is one")
hint = "more than the workers: below 0, no error"
expect_ratio(serial_fraction(8.0, 4), -1 / 6, "serial_fraction", hint=hint)
hint = "slower than one worker: more than 1, no error"
expect_ratio(serial_fraction(0.5, 2), 3.0, "serial_fraction", hint=hint)
nan = float("nan")
for fraction, workers in ((nan, 2), (0.5, nan), (0.5, 0.5), (np.array([0.5, 2.0]), 4), (0.5, -1)):
    expect_raises(ValueError, amdahl, fraction, workers, hint="NaN, or one bad value among many")
for speedup, workers in ((nan, 2), (2.0, nan), (-1.0, 2), (1.0, 0.5), (2.0, np.array([4, 1]))):
    expect_raises(
        ValueError, serial_fraction, speedup, workers, hint="s > 0 and w > 1, all of them"
    )
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import blas

a, b = ramp(512, 512, dtype=np.float32), ramp(512, 512, seed=1, dtype=np.float32)
c = np.empty_like(a)


def plain_softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer(workers):
    """(CPU seconds of the critical path, of what nobody shares) of a product and a softmax.

    The product is split among the workers; the softmax runs on one thread, as in 03.
    """
    kernel = Clocked(np.matmul)
    for _ in range(6):
        parallel_matmul(a, b, workers, out=c, kernel=kernel)
    rounds = [kernel.seconds[i : i + workers] for i in range(0, 6 * workers, workers)]
    serial = Clocked(plain_softmax)
    for _ in range(6):
        serial(c)
    return sum(map(max, rounds)), sum(serial.seconds)


try:
    crews = [w for w in (1, 2, 4, 8) if w <= 4 * usable_cores()]
    with blas.one_thread():
        layer(1)
        measured = {w: layer(w) for w in crews}
    shared, serial = measured[1]
    fraction = shared / (shared + serial)
    speedups = {w: (shared + serial) / (path + serial) for w, (path, _) in measured.items()}
    print(f"f = {fraction:.2f} of the time is a product that can be split, the rest a softmax\n")
    print("workers    by Amdahl    critical path    serial share by Karp and Flatt")
    for w, speedup in speedups.items():
        share = f"{serial_fraction(speedup, w):.2f}" if w > 1 else "-"
        print(f"{w:7}{amdahl(fraction, w):13.2f}{speedup:17.2f}{share:>20}")
    print(f"with any number of workers: {1 / (1 - fraction):.1f} at most")
    axes = new_plot("Amdahl's law, and this layer", "workers", "times as fast")
    if axes:
        crowd = np.arange(1, 65)
        for f, style in ((0.5, ":"), (0.9, "--"), (0.99, "-.")):
            axes.plot(crowd, amdahl(f, crowd), style, color="0.5")
            axes.text(66, amdahl(f, 64), f"f = {f}", color="0.5", va="center")
        here = f"f = {fraction:.2f}, this layer"
        axes.plot(crowd, amdahl(fraction, crowd), "-", color=BLUE, lw=2, label=here)
        dots = list(speedups), list(speedups.values())
        axes.plot(*dots, "o", color=ORANGE, ms=7, label="its critical path")
        axes.legend(loc="upper left", frameon=False, labelcolor="0.5")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlim(0.95, 160)
        for axis, ticks in (
            (axes.xaxis, (1, 2, 4, 8, 16, 32, 64)),
            (axes.yaxis, (1, 2, 4, 8, 16, 32)),
        ):
            axis.set_ticks(ticks, [str(t) for t in ticks])
        show_plot(
            axes,
            "Speed-up against workers, both logarithmic, for four parallel fractions. Each curve "
            "rises like the workers at first and then flattens out. Dots near the blue curve, most of "
            "them on it or below: the critical path measured here.",
        )
except Exception as error:  # whatever the kernels above raise: the tests say more about it
    print(f"left out: {str(error) or 'not written yet'}")

# %% [markdown]
"""
The dots are critical paths, not waiting times: what a machine with enough free cores could reach. With equal bands and a perfect clock they would lie on the curve. Most lie on it or below: a critical path is the *largest* of w measured times, each a little off, and the largest of several noisy numbers is too large on average, the more so the more there are. So part of a serial share that grows with the workers may come from the measuring itself, and not from the code.
"""

# %% [markdown]
"""
## Use it: the same network, on threads

The network of 02 and 03, now on more points and with a wider layer so that there is something to share: product, ReLU, product, softmax. The old kernels are those of 03, from your package; the new ones split the first three. The BLAS is kept to one thread in both.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import vectorized
from tito.machine import blas

draw = np.random.default_rng(2)
plane = draw.uniform(-1, 1, (4000, 2))
inside = (plane**2).sum(axis=1) < 0.5
inputs = np.column_stack([plane, np.ones(len(plane))])
first = draw.normal(size=(3, 256))
second = np.linalg.lstsq(np.maximum(inputs @ first, 0), 6.0 * np.eye(2)[inside.astype(int)])[0]


def network(matmul, relu):
    """The probability of outside and inside, for each point."""
    return vectorized.softmax(matmul(relu(matmul(inputs, first)), second))


def ten_times(*kernels):
    for _ in range(10):
        network(*kernels)


answers = {}
for name, kernels in {
    "one thread (03)": (vectorized.matmul_baseline, vectorized_relu),
    "1 worker": (partial(parallel_matmul, num_workers=1), partial(parallel_relu, num_workers=1)),
    "2 workers": (partial(parallel_matmul, num_workers=2), partial(parallel_relu, num_workers=2)),
}.items():
    try:
        with blas.one_thread():
            answers[name] = network(*kernels)
            ten_times(*kernels)  # warms up
            wall, cpu = np.median([spent(ten_times, *kernels) for _ in range(3)], axis=0)
    except NotImplementedError as error:
        print(f"{name:18}left out: {str(error) or 'not written yet'}")
        continue
    right = 100 * np.mean((answers[name][:, 1] > 0.5) == inside)
    print(f"{name:18}{wall * 100:8.2f} ms on the wall{cpu * 100:9.2f} ms CPU", end="")
    print(f"   right for {right:.1f} % of the points")
if len(answers) > 1:
    old, *_, new = answers.values()
    print(f"largest difference between old and new: {np.abs(old - new).max():.1e}")

# %% [markdown]
"""
## Scoreboard

First the rungs on one thread: what does splitting cost when there is nobody to share with? Then what two workers make of it. *Work* is an exact number, the share of the busiest worker. The critical path is CPU time of the busiest call. The wall is your waiting; it is not graded, and on a busy machine it says more about the neighbours than about the kernel.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import vectorized
from tito.machine import Rung, blas, scoreboard

a, b = ramp(256, 256, dtype=np.float32), ramp(256, 256, seed=1, dtype=np.float32)
c = np.empty_like(a)
x = ramp(1_000, 500, dtype=np.float32)
y = np.empty_like(x)


def agrees(want, inner):
    """A check for a rung: its result is `want` up to rounding."""
    return partial(expect_close, want=want, inner=inner, scale=np.abs(want).max() + 100)


product = dict(args=(a, b), check=agrees(matmul_spec(a, b), 256), flops=2 * 256**3)
positive = dict(args=(x,), check=agrees(relu_spec(x), 1), nbytes=2 * x.nbytes)
with blas.one_thread():
    board = scoreboard(
        [
            Rung("matmul_baseline", partial(vectorized.matmul_baseline, out=c), **product),
            Rung(
                "parallel_matmul, 1 worker",
                partial(parallel_matmul, num_workers=1, out=c),
                **product,
            ),
            Rung("vectorized_relu", partial(vectorized_relu, out=y), **positive),
            Rung(
                "parallel_relu, 1 worker", partial(parallel_relu, num_workers=1, out=y), **positive
            ),
        ],
        rounds=3,
    )
print(board)


def halved(kernel, call, rounds=20):
    """Times as fast with 2 workers, by the critical path and on the wall."""
    clocked, walls = {1: Clocked(kernel), 2: Clocked(kernel)}, {1: 0.0, 2: 0.0}
    for _ in range(rounds):
        for workers, inner in clocked.items():
            walls[workers] += spent(call, workers, inner)[0]
    pairs = zip(clocked[2].seconds[::2], clocked[2].seconds[1::2])
    return times(sum(clocked[1].seconds), sum(map(max, pairs))), times(walls[1], walls[2])


print("\n2 workers             work of the busiest    critical path    on the wall (not graded)")
with blas.one_thread():
    for name, kernel, tasks, call in (
        ("parallel_matmul", np.matmul, 256, lambda w, k: parallel_matmul(a, b, w, c, k)),
        ("parallel_relu", vectorized_relu, x.size, lambda w, k: parallel_relu(x, w, y, k)),
    ):
        try:
            share = max(band.stop - band.start for band in split(tasks, 2)) / tasks
            path, wall = halved(kernel, call)
        except NotImplementedError:
            print(f"{name:22}left out: not written yet")
            continue
        print(f"{name:22}{share:19.2f}{path:>12} times{wall:>12} times")

# %% [markdown]
"""
## Think

Your answers here are read by a person. Three to six sentences each; numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. Which of your functions could gain from threads?** Take three functions of modules 02 to 06, at least one of which gains and one of which does not. Use `gil_ticks` on them, and think of how much memory they move.

### BEGIN SOLUTION
1 point: the lock. Own ticks for at least two functions; says that loops of 02 and count_into keep the lock and cannot gain, and that vectorized kernels and products give it back.

1 point: the second limit. A function that gives the lock back gains only as far as it is not held up by something that all threads share: ReLU of a large array sits at the memory's bandwidth, a large product does many operations for each byte and gains most; small arrays lose to the cost of starting threads.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. Workers around a BLAS that has threads of its own.** What did your table show for wall and CPU time, and how do you explain it? What would you do in a program of your own?

### BEGIN SOLUTION
1 point: own numbers read correctly (no gain on the wall or a loss, more CPU time in all), and the cause: more runnable threads than cores, and BLAS threads that wait by spinning or in a queue for the BLAS's own pool.

1 point: a decision: one level of parallelism. BLAS with all cores and no workers for one large product; workers with BLAS at one thread for many small ones, or where other parts are to be split as well. Accepted: setting the thread count by environment or threadpoolctl.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. Sixty-four cores.** What serial share did you find for the layer in exercise 7, and how fast could it be on 64 cores at most? Why should nobody rely on that number?

### BEGIN SOLUTION
1 point: from the own table: e (or 1 - f), and 1 / (e + (1 - e)/64), with its limit 1/e; computed correctly.

1 point: doubt with a reason: f was measured on one machine and one size and moves with both (a larger product grows faster than its softmax: Gustafson); critical path leaves out starting threads, waiting and bandwidth; the serial part could be split as well.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *Right on small inputs, wrong on large ones, and other values every time.* An update is lost. Look for anything that two workers write to, the merge included: adding up inside the workers is the same race, a little later.
- *The last rows are zeros, or whatever was in the memory.* `n // workers` rows for each, and the rest for nobody.
- *`None`, zeros or old numbers in some places, not always the same.* Nobody waited for the threads: `join` each, or let `with` close the pool, before you return.
- *It works, and no exception ever arrives.* Nobody asked the futures for their results.
- *`out` is unchanged.* `reshape(-1)` made a copy, and the workers filled that.
- *It hangs.* A worker waits for a task that waits in the queue behind it: one pool for calls inside of calls. Or a lock was taken twice.
- *Two threads, and not faster.* Ask `gil_ticks`. Then ask how long one task takes.
- *Two threads, and slower.* The library inside has threads of its own.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 06` says the same;
- you can say for each of your functions of 02 and 03 whether threads could help it;
- the three questions have an answer;
- `tito export 06` has written `tinykernels/parallel.py`, and you find your own words in it.

## In production

`ThreadPoolExecutor` is how Python programs use threads, for waiting more than for computing. Inside libraries it is OpenMP, TBB or a pool of their own that splits loops as you did: OpenBLAS cuts its products into bands and blocks, PyTorch keeps one pool for work inside an operation and another for operations side by side. `joblib` and `scikit-learn` limit the threads of a BLAS inside their workers, for the reason you measured. Numba's `prange` (module 07) writes private partial results and merges them, without being told. And CPython comes without the lock now, if one asks for such a build (PEP 703): then every Python loop can run at the same time as another, and every lost update can happen.

**References**

- G. M. Amdahl, *Validity of the single processor approach to achieving large scale computing capabilities*, AFIPS Conference Proceedings 30, 1967.
- J. L. Gustafson, *Reevaluating Amdahl's law*, Communications of the ACM 31(5), 1988.
- A. H. Karp, H. P. Flatt, *Measuring parallel processor performance*, Communications of the ACM 33(5), 1990.
- S. Gross, *PEP 703: Making the Global Interpreter Lock Optional in CPython*, 2023.
- The Python manual: `concurrent.futures`, `threading`, `sys.setswitchinterval`.

## Next

In a terminal:

    tito test 06       the visible tests, in a process of their own
    tito export 06     your kernels become tinykernels/parallel.py
    tito submit 06     the file to hand in

Then module 07: the same loops, compiled, without the lock.
"""

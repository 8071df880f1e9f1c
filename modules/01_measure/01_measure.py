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
# 01 Measure: say "twice as fast" and be right

| | |
|---|---|
| hours | 3 |
| difficulty | 1 of 5 |
| needs | Python functions, `*args` and `**kwargs`, a little NumPy |
| code goes to | `tinykernels/measure.py` |
| points | 33 by tests, 6 by hand |

After this module you can

- time a function so that the number means something, and say how sure you are of it;
- compare two functions on a busy laptop and get the same ratio as on a quiet one;
- work out, before you write a kernel, how fast this machine could run it at best;
- say what your clock does not see.

Fourteen modules follow in which you make things faster. This one is about knowing whether you did.

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
#| default_exp measure
#| export
import math
import os
import re
import struct
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass, replace
from functools import partial
from math import inf, nan
from pathlib import Path

import numpy as np

# %% jupyter={"source_hidden": true}
# Given: what the tests below use.
from tito.checks import (
    CheckFailed,
    expect_close,
    expect_equal,
    expect_raises,
    expect_unchanged,
    rng,
)


class ToyMachine:
    """A pretend computer whose clock moves only while its kernels run, by whole seconds.

    slow_after : number of kernel calls after which everything takes three times as long
    log        : "clock" for each reading of the clock, the kernel's name for each call
    inputs     : the number in the first array of each call that had one
    made       : number of calls of make_args
    """

    def __init__(self, slow_after=10**9):
        self.now = 0.0
        self.slow_after = slow_after
        self.log, self.inputs = [], []
        self._calls = self.made = 0

    def clock(self):
        self.log.append("clock")
        return self.now

    def kernel(self, name, *costs):
        """A function that takes costs[0] seconds at its first call, and so on; the last cost holds
        for all further calls. It spoils the array it is given and returns its number of calls."""
        calls = 0

        def run(*arrays):
            nonlocal calls
            self.log.append(name)
            for array in arrays:
                self.inputs.append(int(array.flat[0]))
                array.fill(-1)
            cost = costs[min(calls, len(costs) - 1)]
            self.now += cost * (3 if self._calls >= self.slow_after else 1)
            self._calls += 1
            calls += 1
            return calls

        return run

    def make_args(self):
        """A new array, which holds its number: 1, 2, ... Making it takes 7 seconds."""
        self.now += 7
        self.made += 1
        return (np.full(3, float(self.made)),)

    @property
    def order(self):
        """The names of the kernels as they were called, in one string."""
        return "".join(name for name in self.log if name != "clock")


def plain(answer):
    """What time_samples returned; a namedtuple is a tuple too, and np.float64 a float."""
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], list):
        return answer
    result, seconds = answer
    return result, [float(s) if isinstance(s, np.floating) else s for s in seconds]


# %% jupyter={"source_hidden": true}
# Given: what the measurements below use.
from contextlib import contextmanager

# A neighbour ends by itself after 30 s, should this notebook not live to end it.
NEIGHBOURS = {
    "cpu": "while time.monotonic() < end: pass",
    "memory": "a, b = bytearray(1 << 25), bytearray(1 << 25)\nwhile time.monotonic() < end: a[:] = b",
}


@contextmanager
def neighbours(kind="cpu"):
    """One busy process for each core, for as long as the block runs; ended whatever happens in it.

    kind : "cpu" for neighbours that only count, "memory" for some that copy all the time
    """
    program = f"import time\nend = time.monotonic() + 30\nprint(flush=True)\n{NEIGHBOURS[kind]}"
    command = [sys.executable, "-c", program]
    children = []
    try:
        for _ in range(os.cpu_count() or 1):
            children.append(
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            )
        for child in children:
            child.stdout.read(1)  # it is awake
        yield
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.communicate()


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


def size_text(nbytes):
    """16384 -> "16 KB"."""
    unit, name = next((u, n) for u, n in ((2**20, "MB"), (2**10, "KB"), (1, "B")) if nbytes >= u)
    return f"{nbytes / unit:.0f} {name}"


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

Here is a product of two 256 x 256 matrices, timed twelve times with the stopwatch that comes with Python. Then the same product against one with half the rows: half the work, so a factor of two. First the machine is left alone, then the cell starts one busy process for each core, and ends them again.

**Predict.** How far apart are the slowest and the fastest of twelve runs of the *same* product? And how often does a true factor of two read as less than 1.3 or more than 3? Write down both, for the quiet machine and for the busy one.
"""

# %% tags=["raises-exception"]
#| measure
from timeit import repeat

from tito.machine import blas

x = np.ones((256, 256))


def stopwatch(rows):
    """Seconds on the wall clock, for one product with this many rows."""
    return repeat(lambda: x[:rows] @ x, number=1, repeat=1)[0]


def look(when):
    runs = [stopwatch(256) for _ in range(12)]
    ratios = [stopwatch(256) / stopwatch(128) for _ in range(60)]
    lost = sum(not 1.3 <= ratio <= 3 for ratio in ratios)
    print(f"{when:6} 12 runs: slowest/fastest {max(runs) / min(runs):.2f}")
    print("       a factor of two read as", end=" ")
    print(f"{min(ratios):.2f} to {max(ratios):.2f}, off in {lost} of 60")


with blas.one_thread():
    look("quiet")
    with neighbours():
        look("busy")

# %% [markdown]
"""
Nothing is wrong with that stopwatch: it measures how long *you waited*, and you waited for other programs too. One run on such a clock says little about the kernel. The same numbers, taken in another way, are good to a few per cent on the busy machine as well. It takes a few short functions, and you write them now.

**The clock.** `time.perf_counter()` is the clock on the wall. `time.thread_time()` counts the processor time that this thread has used: it stands still while another program has the core. In this module it is called `cpu_clock`. Inside, all units are plain: seconds, bytes, floating-point operations (FLOP), and their quotients. No GB and no ms, until a number is printed.
"""

# %%
#| export
cpu_clock = time.thread_time

# %% [markdown]
"""
**The machine.** A measurement without the machine it was made on is half a measurement. `Hardware.detect()` is given. Open the cell and skim it: each system keeps these facts elsewhere, and what it does not tell is `None`. A guess would look just like a fact.
"""

# %% jupyter={"source_hidden": true}
#| export
# Instruction sets by the name that Linux gives them, with what macOS and Windows call them.
MACOS_FEATURES = {"avx2": "avx2_0", "avx512f": "avx512f", "fma": "fma", "asimd": "AdvSIMD"}
WINDOWS_FEATURES = {"sse2": 10, "avx": 39, "avx2": 40, "avx512f": 41, "asimd": 19}
LINUX_FEATURES = ("sse2", "avx", "avx2", "fma", "avx512f", "avx512_vnni", "asimd", "sve")


@dataclass(frozen=True)
class Hardware:
    """What this computer says of itself; None for whatever it does not say.

    cores      : CPUs that this process may use
    l1, l2, l3 : data caches that one core sees, in bytes
    line       : bytes that a cache fetches at once
    features   : SIMD instruction sets, as Linux spells them
    memory     : bytes
    peak       : FLOP/s, and
    bandwidth  : bytes/s. No system tells these two: they are measured, see `measure_roofs`

    >>> Hardware.detect().peak is None
    True
    """

    cores: int | None = None
    l1: int | None = None
    l2: int | None = None
    l3: int | None = None
    line: int | None = None
    features: tuple[str, ...] | None = None
    memory: int | None = None
    peak: float | None = None
    bandwidth: float | None = None

    @classmethod
    def detect(cls):
        """Read the facts of this computer; takes milliseconds and measures nothing."""
        readers = {"linux": _read_linux, "darwin": _read_macos, "win32": _read_windows}
        facts = {"cores": _usable_cores()}
        for read in readers.get(sys.platform, tuple)():
            try:
                facts.update(read())
            except Exception:  # whatever the reason, it was not told, and stays None
                continue
        return cls(**facts)


def _usable_cores():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count()


def _caches(found):
    """(level, bytes, line) of data caches -> {"l1": ..., "line": ...}"""
    found = [cache for cache in found if cache[0] in (1, 2, 3)]
    facts = {f"l{level}": size for level, size, _ in found}
    return facts | {"line": found[0][2]} if found else facts


def _read_linux():
    """One function a source, so that a missing one costs no other fact."""

    def caches():
        found = []
        for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
            kind, level, size, line = (
                (folder / name).read_text().strip()
                for name in ("type", "level", "size", "coherency_line_size")
            )
            if kind != "Instruction":
                unit = {"K": 2**10, "M": 2**20}[size[-1]]
                found.append((int(level), int(size[:-1]) * unit, int(line)))
        return _caches(found)

    def features():
        text = Path("/proc/cpuinfo").read_text()
        present = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)[1].split()
        return {"features": tuple(name for name in LINUX_FEATURES if name in present)}

    def memory():
        return {"memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")}

    return caches, features, memory


def _read_macos():
    def everything():
        text = subprocess.run(
            ["/usr/sbin/sysctl", "hw"], capture_output=True, text=True, timeout=5, check=True
        ).stdout
        told = dict(re.findall(r"^hw\.(\S+): (\d+)$", text, re.MULTILINE))
        names = {"line": "cachelinesize", "memory": "memsize"}
        names |= {f"l{level}": f"l{level}{'d' * (level == 1)}cachesize" for level in (1, 2, 3)}
        facts = {name: int(told[key]) for name, key in names.items() if int(told.get(key, 0))}
        present = [n for n, key in MACOS_FEATURES.items() if told.get(f"optional.{key}") == "1"]
        return facts | {"features": tuple(present)}

    return (everything,)


def _read_windows():
    import ctypes

    kernel32 = ctypes.windll.kernel32

    def caches():
        length = ctypes.c_ulong(0)
        kernel32.GetLogicalProcessorInformation(None, ctypes.byref(length))
        table = ctypes.create_string_buffer(length.value)
        if not kernel32.GetLogicalProcessorInformation(table, ctypes.byref(length)):
            return {}
        return _windows_caches(table.raw[: length.value])

    def features():
        has = kernel32.IsProcessorFeaturePresent
        return {"features": tuple(n for n, number in WINDOWS_FEATURES.items() if has(number))}

    def memory():
        status = ctypes.create_string_buffer(struct.pack("<I60x", 64), 64)  # MEMORYSTATUSEX
        told = kernel32.GlobalMemoryStatusEx(status)
        return {"memory": struct.unpack_from("<Q", status, 8)[0]} if told else {}

    return caches, features, memory


def _windows_caches(table):
    """From an array of SYSTEM_LOGICAL_PROCESSOR_INFORMATION, as 64-bit Windows lays it out."""
    about_cache, instruction = 2, 1
    found = [
        (level, size, line)
        for _, relation, level, _, line, size, kind in struct.iter_unpack("<QI4xBBHII4x", table)
        if relation == about_cache and kind != instruction
    ]
    return _caches(found)


# %% tags=["raises-exception"]
#| measure
from dataclasses import asdict

for name, value in asdict(Hardware.detect()).items():
    if isinstance(value, int):
        value = f"{value:,}"
    elif value is not None:
        value = " ".join(value)
    print(f"{name:10} {value or 'not told'}")

# %% [markdown]
"""
## Exercise 1: Samples

A good stopwatch differs from a bad one in four things.

- *It warms up.* The first call may compile, import, or touch memory for the first time. It is called once before the clock runs.
- *It reads the clock around each call.* One pair of readings around all calls gives an average, and the average hides how much the calls differ.
- *It keeps what the function returned.* You will want to check it: a kernel that is fast and wrong is not fast.
- *It takes the clock as an argument.* So you can choose what is measured, and a test can hand in a clock of its own. The tests below do that: in them no real time passes, and the right answer is one exact list.

Where an exercise of this course asks for an exception, it asks for one with a message: say which argument is wrong, and what it is.

**Predict.** How long does it take to *read* the clock: a thousandth of a microsecond, a tenth, ten? And how short may a function be, so that the reading costs less than 1 % of it? The cell after the exercise measures both.
"""


# %% nbgrader={"grade": false, "grade_id": "time_samples", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    """Time `func(*args, **kwargs)` again and again, each call by itself.

    repeats : number of timed calls, at least 1
    warmup  : number of calls before them that are not timed, at least 0
    clock   : a function without arguments that returns seconds; it is read just before and just
              after each timed call, and at no other time
    returns result, seconds: what the last call returned, and a new list of the times as floats,
        in the order of the calls
    raises ValueError for repeats < 1 or warmup < 0, before any call; what func raises passes
        through

    >>> time_samples(sorted, [3, 1, 2], repeats=2)[0]
    [1, 2, 3]
    """
    # Hint: functools.partial binds func and its arguments to one name. About 9 lines.
    ### BEGIN SOLUTION
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats} must be at least 1, warmup={warmup} at least 0")
    call = partial(func, *args, **kwargs)
    for _ in range(warmup):
        call()
    seconds = []
    for _ in range(repeats):
        start = clock()
        result = call()
        seconds.append(clock() - start)
    return result, seconds
    ### END SOLUTION


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    """The time of one call of `func(*args, **kwargs)`: the median of `time_samples`.

    returns result, microseconds: what the last call returned, and the median of seven timed calls
        after one that is not timed. It is the only function here that does not speak in seconds:
        a kernel takes about a microsecond, and people read that more easily than 1e-06

    >>> time_kernel(sorted, [3, 1, 2])[0]
    [1, 2, 3]
    """
    # Hint: np.median, and a factor of a million. About 2 lines.
    ### BEGIN SOLUTION
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "time_samples-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
machine = ToyMachine()
compiles_first = machine.kernel("f", 100, 3, 1, 2, 4)
got = time_samples(compiles_first, repeats=4, clock=machine.clock)
shown = plain(got)
compiled = "the first value holds the compile time"
causes = {
    f"{compiled}: warm up before the clock": lambda: (4, [100.0, 3.0, 1.0, 2.0]),
    f"{compiled}: leave the warm-up out": lambda: (5, [100.0, 3.0, 1.0, 2.0, 4.0]),
    "the spread is lost: one pair per call, not one around all of them": lambda: (5, [2.5] * 4),
    "the spread is lost: one pair per call, not one around them all": lambda: (5, [10.0]),
    "that is the result of the first call, not of the last": lambda: (1, [3.0, 1.0, 2.0, 4.0]),
}
hint = "one call that is not timed, then four with a pair of clock readings around each"
if "clock" not in machine.log:
    hint = f"read the clock that is handed in: clock(), not one of your own; {hint}"
case = "f takes 3, 1, 2, 4 s"
expect_equal((got, shown)[1], (5, [3.0, 1.0, 2.0, 4.0]), likely=causes, hint=hint, case=case)
if machine.log != ["f"] + ["clock", "f", "clock"] * 4:
    raise CheckFailed(
        f"time_samples  repeats=4: the clock was read {machine.log.count('clock')} times, and the "
        f"calls came in the order {' '.join(machine.log)}\n"
        "  try       f once, then clock, f, clock for each timed call: 8 readings"
    )

x = np.array([1.0, -2.0, 0.5])
want = 3 * x


def scaled(x, scale=1.0):
    return scale * x


result, seconds = expect_unchanged(time_samples, scaled, x, scale=3.0)
cause = "func was called without scale=: hand on **kwargs too"
expect_close(result, want, likely={cause: lambda: x}, hint="call func(*args, **kwargs)")
expect_equal(len(seconds), 7, hint="repeats is 7 where nobody says otherwise")
for wrong in ({"repeats": 0}, {"warmup": -1}):
    expect_raises(ValueError, time_samples, scaled, x, **wrong, hint="check both counts first")

machine = ToyMachine()
uneven = machine.kernel("f", 100, 2, 1, 2, 9, 4, 1, 5)
got = expect_unchanged(time_kernel, scaled, x, scale=3.0)
if not isinstance(got, (tuple, list)) or len(got) != 2:
    raise CheckFailed(
        "time_kernel  returned something other than two values\n"
        f"  got       {got!r}\n"
        "  try       return result, microseconds"
    )
expect_close(got[0], want, likely={cause: lambda: x}, hint="the result comes first, unchanged")
result, microseconds = time_kernel(uneven, clock=machine.clock)
hint = "one call that is not timed, then seven that are: f returns the number of its calls"
expect_equal(result, 8, hint=hint, case="f, which returns the number of its calls")
causes = {
    "off by 1000000: the samples are seconds, the result is microseconds": lambda: 2.0,
    "off by 1000: those are milliseconds": lambda: 2e3,
    "off by 0.001: those are nanoseconds": lambda: 2e9,
    "that is the mean: one slow call moves it": lambda: 24 / 7 * 1e6,
    "that is the fastest call, not the median": lambda: 1e6,
    "that is the last call, not the median": lambda: 5e6,
}
hint = "1 s is 1000000 us; np.median of the seven samples"
if "clock" not in machine.log:
    hint = f"hand clock=clock on to time_samples, it was never read; {hint}"
case = "calls of 2, 1, 2, 9, 4, 1, 5 s"
expect_close(microseconds, 2e6, likely=causes, hint=hint, case=case)

# %% nbgrader={"grade": true, "grade_id": "time_samples-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("time_samples-hidden")
for repeats, warmup in ((1, 0), (1, 1), (3, 0), (2, 5), (11, 2)):
    costs = [int(cost) for cost in draw.integers(1, 1000, warmup + repeats)]
    machine = ToyMachine()
    kernel = machine.kernel("f", *costs)
    got = time_samples(kernel, repeats=repeats, warmup=warmup, clock=machine.clock)
    shown = plain(got)
    want = (warmup + repeats, [float(cost) for cost in costs[warmup:]])
    hint = "any number of repeats and warm-up calls, none among them"
    expect_equal((got, shown)[1], want, hint=hint)
    log = ["f"] * warmup + ["clock", "f", "clock"] * repeats
    hint = "two readings of the clock for each timed call, and no other"
    expect_equal((got, machine.log)[1], log, hint=hint)


class Clock:
    """A clock that is an object, not a function."""

    def __init__(self):
        self.readings = 0

    def __call__(self):
        self.readings += 1
        return 0.25 * self.readings**2


def fails_at_third(*args, **kwargs):
    calls.append((args, kwargs))
    if len(calls) == 3:
        raise KeyError("the third call")
    return len(calls)


calls, clock = [], Clock()
got = time_samples(fails_at_third, 5, "a", repeats=1, clock=clock, b=None)
shown = plain(got)
hint = "a clock may be any object that can be called"
expect_equal((got, shown)[1], (2, [0.75]), hint=hint)
hint = "func gets all arguments at every call, the warm-up too"
expect_equal((got, calls)[1], [((5, "a"), {"b": None})] * 2, hint=hint)
calls.clear()
hint = "what func raises reaches the caller"
expect_raises(KeyError, time_samples, fails_at_third, 5, repeats=4, match="third", hint=hint)
calls.clear()
expect_raises(KeyError, time_kernel, fails_at_third, match="third", hint=hint)
for wrong in ({"repeats": -2}, {"repeats": 0, "warmup": 3}, {"warmup": -5}):
    calls.clear()
    hint = "a wrong count: ValueError, before any call"
    expect_raises(ValueError, time_samples, fails_at_third, **wrong, hint=hint)
    expect_equal(len(calls), 0, hint=hint)
for costs in ([int(cost) for cost in draw.integers(1, 1000, 8)], [5] * 8, [900, *range(7, 0, -1)]):
    machine = ToyMachine()
    kernel = machine.kernel("f", *costs)
    result, microseconds = time_kernel(kernel, clock=machine.clock)
    want = 1e6 * sorted(costs[1:])[3]
    expect_equal(result, 8, hint="one call to warm up, seven that are timed")
    expect_close(microseconds, want, hint="the median of the timed calls, in microseconds")
text = time_kernel(str.replace, "kernel", "k", "K", clock=clock)[0]
expect_equal(text, "Kernel", hint="func may be any function, with any arguments")
number = time_kernel(int, "11", base=2)[0]
expect_equal(number, 3, hint="keyword arguments of func are handed on")
(_, inner), outer = time_samples(time_samples, len, "ab", repeats=3)
hint = "a new list at each call, also where func is time_samples: no later call may change it"
expect_equal((len(outer), len(inner)), (3, 7), hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import blas, time_call

print("clock            step as the system tells it      one reading costs")
for name in ("perf_counter", "process_time", "thread_time"):
    step = time.get_clock_info(name).resolution
    cost = time_call(getattr(time, name)).median
    print(f"{name:16} {step * 1e9:14,.0f} ns             {cost * 1e9:12,.0f} ns")
print(f"Two readings of cpu_clock are 1 % of a function that takes {200 * cost * 1e6:,.0f} us.")
a = np.ones((256, 256))
with blas.one_thread():
    _, yours = time_kernel(np.matmul, a, a)
trusted_time = time_call(np.matmul, a, a)
print(f"a @ a on one thread: {yours:.0f} us by your time_kernel,", end=" ")
print(f"{trusted_time.median * 1e6:.0f} us by the timer that this course trusts")

# %% [markdown]
"""
## Exercise 2: One number, and how sure you are

Seven samples are seven numbers. Which one do you report?

The *mean* moves with every stalled run. The *best* is what the machine can do when nothing disturbs it: right for the speed of a wire, too kind to a kernel that is slow every third time. The *median* has half of the runs on either side and does not care how bad the bad ones are. With it belongs a measure of how far the runs scatter. This course uses

    spread = (p90 - p10) / median

where a tenth of the runs lie below `p10` and a tenth above `p90`. A spread of 0.02 says: most runs lie within 2 % of each other.

Percentiles are *linear* here, as in `np.percentile`: sort `n` values, walk `p/100 * (n - 1)` steps from the first, and go straight from one value to the next where you stop between two.

**Predict.** Nine runs take 1 ms and a tenth takes 31 ms. What are the mean, the median and the spread?
"""


# %%
def summary_spec(seconds):
    """The five numbers, with exact fractions."""
    from fractions import Fraction

    ordered = sorted(Fraction(float(value)) for value in seconds)

    def reach(tenths):
        steps, part = divmod(tenths * (len(ordered) - 1), 10)
        step = ordered[steps : steps + 2]
        return step[0] + (step[-1] - step[0]) * part / 10

    low, middle, high = map(reach, (1, 5, 9))
    spread = (high - low) / middle if middle else 0
    names = ("best", "median", "p10", "p90", "spread")
    return dict(zip(names, map(float, (ordered[0], middle, low, high, spread))))


# %% nbgrader={"grade": false, "grade_id": "summarize", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: spec
def summarize(seconds):
    """What a list of samples says, in five numbers.

        spread = (p90 - p10) / median

    seconds : a list, tuple or one-dimensional array of numbers >= 0, in any order; not modified
    returns a dictionary of floats: "best", "median", "p10", "p90" (linear percentiles), "spread".
        One value has spread 0, and so have values whose median is 0
    raises ValueError for no value at all, and for one that is negative, NaN or infinite

    >>> summarize([2.0, 1.0, 3.0])["median"]
    2.0
    """
    # Hint: np.percentile takes several percentiles at once. About 7 lines.
    ### BEGIN SOLUTION
    runs = np.asarray(seconds, dtype=float)
    if runs.size == 0 or not np.isfinite(runs).all() or runs.min() < 0:
        raise ValueError(f"at least one sample is needed, all finite and >= 0, not {seconds}")
    best, p10, median, p90 = (float(value) for value in np.percentile(runs, (0, 10, 50, 90)))
    spread = (p90 - p10) / median if median > 0 else 0.0
    return {"best": best, "median": median, "p10": p10, "p90": p90, "spread": spread}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "summarize-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
names = ("best", "median", "p10", "p90", "spread")
keeps_order = "use sorted(), the caller keeps its order"
runs = np.array([3.0, 1.0, 31.0, 2.0, 1.5])
try:
    expect_unchanged(summarize, runs)
except AssertionError as error:
    if "changed its input" not in str(error):
        raise
    told = str(error).partition("\n  try")[0]
    raise CheckFailed(f"{told}\n  likely    sort() works in place: {keeps_order}") from None
for runs in ([4.0, 1.0, 2.0, 3.0], [1.0] * 6 + [2.0, 1.0, 1.0, 31.0], [0.5]):
    want, before = summary_spec(runs), list(runs)
    try:
        got = summarize(runs)
    except (ValueError, IndexError, ZeroDivisionError) as error:
        if len(runs) > 1:
            raise
        raise CheckFailed(
            f"summarize  [0.5]: {type(error).__name__}: {error}\n"
            "  try       one run has spread 0: all its percentiles are that one value"
        ) from None
    if runs != before:
        raise CheckFailed(f"summarize changed its input\n  try       {keeps_order}")
    form = {key: None for key in got} if isinstance(got, dict) else got
    hint = f"a dictionary with the keys {', '.join(names)}"
    expect_equal((got, form)[1], dict.fromkeys(names), hint=hint)
    mean, deviation = float(np.mean(runs)), float(np.std(runs))
    moved = 100 * (mean / want["median"] - 1)
    causes = {
        f"one slow run of {len(runs)} moved your centre by {moved:.0f} %: take the median": lambda: (
            mean
        ),
        "that is the standard deviation: expected (p90 - p10)/median": lambda: deviation,
        "that is relative, but not by percentiles: expected (p90 - p10)/median": lambda: (
            deviation / mean
        ),
        "the spread is not divided by the median: expected (p90 - p10)/median": lambda: (
            want["p90"] - want["p10"]
        ),
        "that is the slowest run": lambda: max(runs),
        "np.percentile counts from 0 to 100: the median is 50, not 0.5": lambda: float(
            np.percentile(runs, 0.5)
        ),
    }
    hint = "linear percentiles: np.percentile(seconds, 10)"
    for name in names:
        case = f"{name} of {runs}"
        expect_close(got[name], want[name], inner=9, likely=causes, hint=hint, case=case)
for wrong in ([], [1.0, nan], [1.0, -0.5]):
    hint = f"no value, NaN or a negative one: ValueError; here {wrong}"
    expect_raises(ValueError, summarize, wrong, hint=hint)

# %% nbgrader={"grade": true, "grade_id": "summarize-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
names = ("best", "median", "p10", "p90", "spread")
draw = rng("summarize-hidden")
for size in (1, 2, 3, 4, 10, 11, 33, 100):
    values = draw.exponential(1e-3, size)
    for runs in (values, values.tolist(), tuple(values.tolist()), np.sort(values)[::-1]):
        want = summary_spec(runs)
        watched = isinstance(runs, np.ndarray)
        got = expect_unchanged(summarize, runs) if watched else summarize(runs)
        hint = "a dictionary with these five keys; lists, tuples and arrays of any length"
        form = {key: None for key in got} if isinstance(got, dict) else got
        expect_equal((got, form)[1], dict.fromkeys(names), hint=hint)
        for name in names:
            scale = max(runs) / want["median"] if name == "spread" else max(runs)
            expect_close(got[name], want[name], inner=33, scale=scale, hint=hint)
for runs, why in (
    ([0.25], "one run has spread 0"),
    ([3.0] * 8, "equal runs have spread 0"),
    ([0.0, 0.0, 0.0], "a median of 0 has spread 0: no division"),
    ([0.0, 0.0, 0.0, 8.0], "a median of 0 has spread 0: no division"),
    ([0.0, 1.0, 2.0], "only a median of 0 is a special case, not a best of 0"),
    ([1, 2, 3, 10], "whole numbers are numbers too"),
    ([1.5e308, 1e308, 1.2e308], "any finite values, also where their sum would be infinite"),
):
    want = summary_spec(runs)
    try:
        got = summarize(runs)
    except ValueError:
        got = dict.fromkeys(names, nan)
    for name in names:
        expect_close(got[name], want[name], inner=9, hint=why)
negative = np.array([1.0, -1.0])
for wrong in ([], (), np.zeros(0), [nan], [-1e-9], [0.5, nan, 0.5], negative, [1, inf]):
    hint = "no value, and a value that is negative, NaN or infinite: ValueError"
    expect_raises(ValueError, summarize, wrong, hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from timeit import repeat

from tito.machine import blas

a = np.ones((256, 256))
with blas.one_thread(), neighbours():
    busy = [1e3 * s for s in repeat(lambda: a @ a, number=1, repeat=200)]
found = summarize(busy)
mean = sum(busy) / len(busy)
print(f"200 runs of a @ a on a busy machine, wall clock, in ms: spread {found['spread']:.2f}")
print(f"  best {found['best']:.3f}   median {found['median']:.3f}   mean {mean:.3f}")
axes = new_plot("one product, 200 times, all cores busy", "run", "ms, wall clock")
if axes:
    axes.plot(busy, ".", color=BLUE, markersize=5)
    lines = (("mean", mean, RED, ":"), ("median", found["median"], ORANGE, "-"))
    for name, value, colour, style in (*lines, ("best", found["best"], GREEN, "--")):
        axes.axhline(value, color=colour, linestyle=style, linewidth=2, label=f"{name} {value:.2f}")
    axes.set_yscale("log")
    axes.legend(labelcolor="0.5", framealpha=0, loc="upper left", bbox_to_anchor=(1, 1))
    show_plot(
        axes,
        f"200 times as dots. Most lie near the best, {found['best']:.2f} ms, some far above it. "
        f"Lines mark the mean, {mean:.2f} ms, and the median, {found['median']:.2f} ms.",
    )
# %% [markdown]
"""
## Exercise 3: Twice as fast?

"B is twice as fast as A" is a statement about two functions, and the machine changes while you time them: it heats up, another program starts, the laptop leaves its charger. If you time all of A and then all of B, that change ends up in the ratio.

<img alt="Two strips of six timed runs each. In both, a grey band of load lies over the right half. In the upper strip the runs are A A A B B B: all of B lies in the band, and B looks slow. In the lower strip they are A B, B A, A B: each pair lies together, either outside the band or inside it, and only the middle pair is cut by its edge." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='656' height='186' viewBox='0 0 656 186' font-family='sans-serif' font-size='14'><title>Two orders of six runs</title>
<path d='M306 8h344v150h-344z' fill='rgb(125,125,125)' fill-opacity='0.3'/>
<path d='M72 22h70v42h-70zM150 22h70v42h-70zM228 22h70v42h-70zM72 104h70v42h-70zM306 104h110v42h-110zM424 104h110v42h-110z' fill='rgb(86,180,233)'/>
<path d='M314 22h92v42h-92zM414 22h92v42h-92zM514 22h92v42h-92zM150 104h58v42h-58zM240 104h58v42h-58zM542 104h92v42h-92z' fill='rgb(230,159,0)'/>
<path d='M72 152v6h136v-6M240 152v6h176v-6M424 152v6h210v-6' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<g text-anchor='middle' fill='black' font-weight='bold'><text x='107' y='48'>A</text><text x='185' y='48'>A</text><text x='263' y='48'>A</text><text x='360' y='48'>B</text><text x='460' y='48'>B</text><text x='560' y='48'>B</text><text x='107' y='130'>A</text><text x='179' y='130'>B</text><text x='269' y='130'>B</text><text x='361' y='130'>A</text><text x='479' y='130'>A</text><text x='588' y='130'>B</text></g>
<g fill='rgb(125,125,125)'><text x='4' y='48'>all A first</text><text x='4' y='130'>in pairs</text><text x='112' y='178'>round 1</text><text x='302' y='178'>round 2</text><text x='504' y='178'>round 3</text><text x='560' y='88'>under load</text></g>
</svg>">

So compare in *rounds*. A round times each of the two once, close together, and gives one ratio. What slows both of them drops out of it. The next round goes in the other order, since who goes first warms the cache for the other. The median of the ratios is the answer, and the band from `p10` to `p90` says whether you may believe it.

Kernels that change their argument, as a sort does, would hand the second one easier work. So each call gets arguments of its own, made before the clock is read.

**Predict.** A takes 2 seconds and B takes 1. Half-way through, the machine becomes three times slower. You time nine runs of A, then nine runs of B. Which ratio do you report?
"""


# %% nbgrader={"grade": false, "grade_id": "compare", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def compare(baseline, candidate, make_args, rounds=9, clock=cpu_clock):
    """How many times faster than `baseline` the `candidate` is, and whether to believe it.

        ratio of a round = seconds of baseline / seconds of candidate

    baseline, candidate : functions that take what make_args() returns; they may change it
    make_args : a function without arguments that returns a tuple of fresh arguments. It is called
                once for each call of either function, before it and in the same round, and is
                never timed
    rounds    : at least 1. Rounds 1, 3, 5, ... time baseline, then candidate, the others candidate,
                then baseline. One round before them is not timed: it warms up
    clock     : as in time_samples
    returns a dictionary: "ratio", the median over the rounds, more than 1 if the candidate is
        faster; "low" and "high", their p10 and p90; and "verdict"
            "faster"        low > 1
            "slower"        high < 1
            "same"          neither, and high / low <= 1.3
            "inconclusive"  none of these
        Where the clock did not move during one of the timed calls, the three numbers are NaN and
        the verdict is "inconclusive": the work is too short for this clock
    raises ValueError for rounds < 1, before any call

    >>> ticks = iter([0.0, 4.0, 5.0, 7.0])
    >>> compare(len, len, lambda: ("ab",), rounds=1, clock=lambda: next(ticks))["ratio"]
    2.0
    """
    # Hint: time_samples with repeats=1, warmup=0 times one call, summarize does the rest. The two
    #   may be the same function. About 20 lines.
    ### BEGIN SOLUTION
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
    kernels = (baseline, candidate)
    for kernel in kernels:
        kernel(*make_args())
    ratios = []
    for turn in range(rounds):
        spent = {}
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            fresh = make_args()
            _, (spent[which],) = time_samples(
                kernels[which], *fresh, repeats=1, warmup=0, clock=clock
            )
        if min(spent.values()) <= 0:
            return {"ratio": math.nan, "low": math.nan, "high": math.nan, "verdict": "inconclusive"}
        ratios.append(spent[0] / spent[1])
    found = summarize(ratios)
    low, high = found["p10"], found["p90"]
    if low > 1:
        verdict = "faster"
    elif high < 1:
        verdict = "slower"
    else:
        verdict = "same" if high / low <= 1.3 else "inconclusive"
    return {"ratio": found["median"], "low": low, "high": high, "verdict": verdict}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "compare-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
names = ("ratio", "low", "high", "verdict")
machine = ToyMachine(slow_after=10)
got = compare(
    machine.kernel("A", 52, 2), machine.kernel("B", 51, 1), machine.make_args, clock=machine.clock
)
form = {key: None for key in got} if isinstance(got, dict) else got
hint = f"a dictionary with the keys {', '.join(names)}"
expect_equal((got, form)[1], dict.fromkeys(names), hint=hint)
reads = f"the machine slowed half-way: your ratio reads {2 / 3:.2f}; interleave"
causes = {
    reads: lambda: 2 / 3,
    "more than 1 means the candidate is faster: baseline over candidate": lambda: 0.5,
}
hint = "only the calls themselves are timed, and in one round both of them"
if "clock" not in machine.log:
    hint = f"hand clock=clock on to time_samples, it was never read; {hint}"
case = "A takes 2 s and B 1 s, three times that from half-way on"
expect_close(got["ratio"], 2.0, inner=3, likely=causes, hint=hint, case=case)
order = machine.order
if len(order) != 20 or set(order[:2]) != {"A", "B"}:
    raise CheckFailed(
        f"compare  rounds=9: the calls came as {order}\n"
        "  try       one round of both that is not timed, then nine rounds: 20 calls"
    )
if order[2:] != ("ABBA" * 5)[:18]:
    shown = " ".join(order[2:6])
    raise CheckFailed(
        f"compare  call order was {shown}: who goes first warms the cache for the other\n"
        "  try       A B in rounds 1, 3, 5, ..., B A in the others"
    )
if sorted(machine.inputs) != list(range(1, 21)):
    if len({made for made in machine.inputs if made > 0}) == 20:
        raise CheckFailed(
            f"compare  make_args was called {machine.made} times for 20 calls of A and B\n"
            "  try       call make_args() once before every call of a kernel, and not besides"
        )
    raise CheckFailed(
        "compare  A and B spoil their argument: the second kernel saw changed data\n"
        "  try       call make_args() before every call of a kernel, the untimed ones too"
    )
for name in ("low", "high"):
    cause = "the first round holds the compile time: one round before it is not timed"
    causes = {cause: lambda: 2 + (52 / 51 - 2) / 10}
    expect_close(got[name], 2.0, inner=9, likely=causes, hint="p10 and p90 of nine equal ratios")

machine = ToyMachine()
stalls, b = machine.kernel("A", 2, 2, 2, 1000, 2), machine.kernel("B", 1)
got = compare(stalls, b, machine.make_args, clock=machine.clock)
causes = {"one stalled round moved it: median": lambda: (8 * 2 + 1000) / 9}
case = "A takes 2 s, but 1000 s once"
expect_close(got["ratio"], 2.0, inner=9, likely=causes, hint="the median of nine", case=case)
expect_close(got["high"], 2 + 0.2 * 998, inner=9, hint="p90 of the ratios", case=case)

machine = ToyMachine(slow_after=11)
a, b = machine.kernel("A", 2), machine.kernel("B", 1)
got = compare(a, b, machine.make_args, clock=machine.clock)
cause = "that is one median over another: divide within each round, then take the median"
case = "the machine slows between A and B of one round"
expect_close(got["ratio"], 2.0, inner=9, likely={cause: lambda: 2 / 3}, case=case)
expect_close(got["low"], 2 / 3 + 0.8 * 4 / 3, inner=9, hint="p10 of the ratios", case=case)

for costs_a, costs_b, want in (
    ((2, 2), (1, 1), "faster"),
    ((1, 1), (2, 2), "slower"),
    ((10, 10, 11), (10, 11, 10), "same"),
    ((2, 2, 1), (2, 1, 2), "inconclusive"),
    ((1, 0), (1, 1), "inconclusive"),
):
    machine = ToyMachine()
    a, b = machine.kernel("A", *costs_a), machine.kernel("B", *costs_b)
    got = compare(a, b, machine.make_args, rounds=len(costs_a) - 1, clock=machine.clock)
    hint = "low > 1, high < 1, or high/low <= 1.3; a call of 0 s says nothing"
    case = f"timed calls of A take {costs_a[1:]} s, of B {costs_b[1:]} s"
    expect_equal(got["verdict"], want, hint=hint, case=case)
machine = ToyMachine()
a, b = machine.kernel("A", 2), machine.kernel("B", 1)
hint = "rounds < 1: ValueError, before any call"
expect_raises(ValueError, compare, a, b, machine.make_args, 0, hint=hint)
expect_equal((compare, machine.order)[1], "", hint=hint, case="rounds=0: calls before the error")

# %% nbgrader={"grade": true, "grade_id": "compare-hidden", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 3 points, checked after hand-in
### BEGIN HIDDEN TESTS
names = ("ratio", "low", "high", "verdict")
draw = rng("compare-hidden")


def compared(costs_a, costs_b, rounds, same=False):
    """The machine, its two kernels and the number of rounds, as arguments of compare."""
    machine = ToyMachine()
    a = machine.kernel("A", *costs_a)
    b = a if same else machine.kernel("B", *costs_b)
    return machine, (a, b, machine.make_args, rounds, machine.clock)


for rounds in (1, 2, 3, 4, 9, 16):
    costs_a, costs_b = ([int(c) for c in draw.integers(1, 99, rounds + 1)] for _ in "ab")
    found = summary_spec([first / second for first, second in zip(costs_a[1:], costs_b[1:])])
    middle, low, high = found["median"], found["p10"], found["p90"]
    machine, arguments = compared(costs_a, costs_b, rounds)
    got = compare(*arguments)
    form = {key: None for key in got} if isinstance(got, dict) else got
    expect_equal((got, form)[1], dict.fromkeys(names), hint="a dictionary with these four keys")
    hint = "any number of rounds: median, p10 and p90 of the ratios of the timed ones"
    for name, want in (("ratio", middle), ("low", low), ("high", high)):
        expect_close(got[name], want, inner=33, scale=high, hint=hint)
    hint = "A B in rounds 1, 3, 5, ..., B A in the others"
    want = ("ABBA" * 9)[: 2 * rounds]
    expect_equal((got, machine.order[2:])[1], want, hint=hint)
    hint = "make_args() is called once for each call, before it, and its result used once"
    expect_equal((got, sorted(machine.inputs))[1], list(range(1, 2 * rounds + 3)), hint=hint)
# With eleven rounds p10 and p90 are the second smallest and the second largest ratio.
for ratios, want in (
    ([10] * 11, "same"),
    ([10] * 6 + [13] * 5, "same"),
    ([10] * 6 + [14] * 5, "inconclusive"),
    ([9] * 6 + [12] * 5, "inconclusive"),
    ([5] * 6 + [10] * 5, "inconclusive"),
    ([10] * 6 + [30] * 5, "inconclusive"),
    ([11] * 11, "faster"),
    ([11] * 6 + [60] * 5, "faster"),
    ([2] * 6 + [9] * 5, "slower"),
    ([2] + [11] * 10, "faster"),
    ([9] * 10 + [90], "slower"),
    ([8] * 5 + [10] * 6, "same"),
):
    machine, arguments = compared([10, *ratios], [10], 11)
    got = compare(*arguments)
    hint = "low > 1, high < 1, high/low <= 1.3, each as the contract says it"
    expect_equal(got["verdict"], want, hint=hint)
for costs_a, costs_b, rounds in (
    ((5, 0), (5, 5), 3),
    ((5, 5), (5, 0), 3),
    ((5, 5, 5, 0), (5,), 3),
    ((5,), (5, 5, 0, 5), 3),
    ((5, 5, 0, 5), (5,), 3),
    ((5,), (5, 5, 5, 0, 5), 11),
    ((5, 5, 5, 0, 5), (5,), 11),
    ((0,), (0,), 3),
):
    machine, arguments = compared(costs_a, costs_b, rounds)
    got = compare(*arguments)
    hint = "the clock did not move in one call of any round: NaN and inconclusive, no division"
    for name in ("ratio", "low", "high"):
        expect_close(got[name], nan, allow_nan=True, hint=hint)
    expect_equal(got["verdict"], "inconclusive", hint=hint)
machine, (a, b, *others) = compared((2,), (1,), 4)
ahead = []


def noted(kernel):
    def run(*arrays):
        ahead.append(machine.made - len(ahead))
        return kernel(*arrays)

    return run


got = compare(noted(a), noted(b), *others)
hint = "fresh arguments are made in the round that uses them, not for all rounds beforehand"
expect_equal((got, [made for made in ahead if made > 2])[1], [], hint=hint)
machine, arguments = compared((0, 2, 4), (0, 1, 2), 2)
hint = "the untimed round may take no time at all"
expect_close(compare(*arguments)["ratio"], 2.0, inner=9, hint=hint)
machine, arguments = compared((1, 1, 2, 1, 1, 4, 2), (), 3, same=True)
got = compare(*arguments)
hint = "baseline and candidate may be one function: time it twice a round"
expect_close(got["ratio"], 2.0, inner=9, hint=hint)


def fails(*arrays):
    raise LookupError("this kernel")


machine, arguments = compared((1,), (1,), 1)
hint = "what a kernel raises reaches the caller"
expect_raises(LookupError, compare, fails, *arguments[1:], match="this kernel", hint=hint)
for rounds in (0, -1):
    machine, arguments = compared((1,), (1,), rounds)
    hint = "rounds < 1: ValueError, before any call"
    expect_raises(ValueError, compare, *arguments, hint=hint)
    expect_equal(machine.log, [], hint=hint)
numbers = np.array([3.0, 1.0, 2.0])
got = compare(np.sort, np.sort, make_args=lambda: (numbers,), rounds=2)
form = {key: None for key in got} if isinstance(got, dict) else got
expect_equal(form, dict.fromkeys(names), hint="without a clock it is the CPU clock")
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from timeit import repeat

from tito.machine import blas
from tito.machine import compare as trusted

a = np.ones((256, 256))
large = np.ones((Hardware.detect().l3 or 2**24) // 3, np.uint8)  # two of them just fit
target = large.copy()
pairs = {
    "a @ a, against half its rows": (lambda: a @ a, lambda: a[:128] @ a),
    f"a copy of {large.size / 2**20:.0f} MB, against a @ a": (
        lambda: np.copyto(target, large),
        lambda: a @ a,
    ),
}


def by_wall(baseline, candidate):
    """p10, median and p90 of 25 ratios that were read on the wall clock."""
    with blas.one_thread():
        first, second = (
            lambda f=f: repeat(f, number=1, repeat=1)[0] for f in (baseline, candidate)
        )
        return np.percentile([first() / second() for _ in range(25)], (10, 50, 90))


def show(when):
    print(when)
    for name, (baseline, candidate) in pairs.items():
        by_cpu = trusted(baseline=baseline, candidate=candidate).ratios["candidate"]
        for clock, (low, middle, high) in (
            ("wall", by_wall(baseline, candidate)),
            ("CPU", by_cpu),
        ):
            print(f"   {name:30} {clock:5} {middle:6.2f}   {low:6.2f} to {high:6.2f}")
            seen.setdefault((name, clock), []).append((middle, high / low))


seen = {}
print("                                  clock  median   p10 to p90 of the ratios")
show("quiet")
with neighbours("cpu"):
    show("all cores busy")
with neighbours("memory"):
    show("all cores copying")
print("under load, at most                     median moved   high/low")
for (name, clock), ((quiet, _), *loaded) in seen.items():
    moved = 100 * max(abs(middle / quiet - 1) for middle, _ in loaded)
    band = max(width for _, width in loaded)
    print(f"   {name:30} {clock:5} {moved:4.0f} %   {band:11,.1f}")
try:
    with blas.one_thread():
        yours = compare(np.matmul, np.matmul, lambda: (a, a))
    print(f"Your compare on a @ a against itself: {yours['ratio']:.2f}, {yours['verdict']}")
except NotImplementedError:
    print("left out: your compare is not written yet")

# %% [markdown]
"""
Rounds and a median rescue much, on the wall clock too. But look at its bands: a single round there tells you next to nothing, and `compare` would have to say so. On the CPU clock the band of the first pair closes.

**The surprise.** The CPU clock is not the truth either. Work that stays inside the core keeps its ratio under any load. Work that goes to the last cache and to memory shares both with the neighbours, and then it *is* slower: on some machines hardly, on others by a third or more. Compare the lines of the second pair, and run the cell again. No clock can take that out: the machine you measured was another one.

## Exercise 4: How fast do bytes move?

The fastest kernel cannot finish before its data has arrived. So the second number to know of a machine, after its time, is the rate at which it moves bytes.

A copy is the simplest probe. Count what it moves: it *reads* every byte of the source and *writes* every byte of the target. And mind the pages: `np.zeros` and `np.empty` give you addresses, not memory. The system puts a page there when you first touch it, and if that happens while the clock runs, you have measured the system.

The best of the repeats is the number here. A copy that was disturbed says nothing about the wire.

**Predict.** Sketch the rate against the size, from 16 KB to 256 MB. Where does it drop, and by what factor in all?
"""


# %% nbgrader={"grade": false, "grade_id": "measure_bandwidth", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    """The rate at which this machine copies `nbytes` bytes, in bytes per second.

        (bytes read + bytes written) / time of the fastest copy

    nbytes  : size of the source and of the target: exactly so many bytes each; any whole
              number >= 1
    repeats : number of timed copies
    copy    : called with the target and the source; copies all bytes, as np.copyto does
    clock   : as in time_samples
    returns a float; inf where the clock did not move
    raises ValueError for nbytes < 1, before any work

    The source is filled with ones. The target is written too before the clock is first read: by
    filling it with numbers other than 0 (zeros look like memory that nobody has touched), or by
    copies that are not timed, one or more.

    >>> measure_bandwidth(1000) > 0
    True
    """
    # Hint: np.ones(nbytes, np.uint8), and time_samples times the copies. About 7 lines.
    ### BEGIN SOLUTION
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    source = np.ones(nbytes, np.uint8)
    target = source.copy()
    _, seconds = time_samples(copy, target, source, repeats=repeats, clock=clock)
    best = min(seconds)
    return 2 * nbytes / best if best > 0 else math.inf
    ### END SOLUTION


# %% jupyter={"source_hidden": true}
class ToyCopy:
    """A copy that takes scripted times on a toy machine, and notes what it was given."""

    def __init__(self, *costs):
        self.machine = ToyMachine()
        self.clock = self.machine.clock
        self.sizes, self.problems = [], []
        self._spend = self.machine.kernel("copy", *costs)

    def copy(self, target, source):
        timed = "clock" in self.machine.log
        self.sizes.append((target.nbytes, source.nbytes))
        if np.shares_memory(target, source):
            self.problems.append("source and target are one array: it never left the cache")
        if not (source == 1).all():
            self.problems.append(
                "the source, the second argument of copy, is not filled with ones: its pages may "
                "not be there"
            )
        zeros = target.size - np.count_nonzero(target)
        if timed and zeros > target.size // 8 + 8:  # random bytes hold some as well
            share = "only zeros" if zeros == target.size else f"{zeros} zeros"
            self.problems.append(
                f"the target holds {share}, like memory that nobody has touched: the first touch "
                "is page faults, not bandwidth. Fill it with 1"
            )
        np.copyto(target, source)
        self._spend()


# %% nbgrader={"grade": true, "grade_id": "measure_bandwidth-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
costs = [50, 10, 4, 18, 9, 3, 3, 5]
toy = ToyCopy(*costs)
got = measure_bandwidth(1000, repeats=3, copy=toy.copy, clock=toy.clock)
if not toy.sizes:
    raise CheckFailed("measure_bandwidth  copy was never called\n  try       copy(target, source)")
for sizes in set(toy.sizes) - {(1000, 1000)}:
    raise CheckFailed(
        f"measure_bandwidth  nbytes=1000: your arrays hold {sizes[0]} and {sizes[1]} bytes\n"
        "  likely    float64 has eight bytes, so an array of nbytes of them holds 8*nbytes\n"
        "  try       np.uint8, the type of one byte"
    )
large = ToyCopy(1)  # so large that unwritten memory is new: a small piece may hold old numbers
measure_bandwidth(1 << 20, 1, large.copy, large.clock)
for nbytes, problem in [(1000, p) for p in toy.problems] + [(1 << 20, p) for p in large.problems]:
    raise CheckFailed(
        f"measure_bandwidth  nbytes={nbytes}: {problem}\n"
        "  try       two arrays, np.ones(nbytes, np.uint8) for the source, and a warm-up copy: "
        "copy(target, source)"
    )
log = toy.machine.log
untimed = log.index("clock") if "clock" in log else 1  # copies before the clock was first read
timed = (costs + [5] * untimed)[untimed : untimed + 3]
best, middle, readings = min(timed), sorted(timed)[1], log.count("clock")
causes = {
    "a copy reads and writes: 2*nbytes": lambda: 1000 / best,
    "that is the mean of the copies: the best one is the wire's": lambda: 2000 / (sum(timed) / 3),
    "that is the median of the copies: the best one is the wire's": lambda: 2000 / middle,
    "upside down: bytes over seconds": lambda: best / 2000,
    "off by a million: time_kernel gives microseconds, and the median": lambda: 2000 / 5e6,
    "off by a million: microseconds, and their median": lambda: 2000 / middle / 1e6,
}
case = f"nbytes=1000, timed copies of {timed[0]}, {timed[1]} and {timed[2]} s"
hint = "2*nbytes over the smallest of the timed samples, `repeats` of them"
if not readings:
    hint = f"hand clock=clock on to time_samples, it was never read; {hint}"
elif readings != 6:
    hint = f"repeats=3, but the clock was read {readings} times: hand on repeats=repeats; {hint}"
expect_close(got, 2000 / best, inner=2, likely=causes, hint=hint, case=case)
for wrong in (0, -8):
    expect_raises(ValueError, measure_bandwidth, wrong, hint="nbytes < 1: ValueError")

# %% nbgrader={"grade": true, "grade_id": "measure_bandwidth-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("measure_bandwidth-hidden")
for nbytes in (1, 2, 7, 1001, 4096, 65_537):
    costs = [int(cost) for cost in draw.integers(1, 100, 8)]
    toy = ToyCopy(*costs, 1)
    repeats = int(draw.integers(1, 8))
    got = measure_bandwidth(nbytes, repeats, toy.copy, toy.clock)
    hint = "any number of bytes, multiple of 8 or not"
    expect_equal((got, set(toy.sizes))[1], {(nbytes, nbytes)}, hint=hint)
    hint = "two arrays: a source of ones, and a target that was copied to or holds no zeros"
    expect_equal((got, toy.problems)[1], [], hint=hint)
    hint = "`repeats` timed copies, two readings of the clock for each"
    expect_equal((got, toy.machine.log.count("clock"))[1], 2 * repeats, hint=hint)
    skipped = toy.machine.log.index("clock")
    want = 2 * nbytes / min((costs + [1] * (skipped + repeats))[skipped : skipped + repeats])
    hint = "bytes read and written over the best of the timed copies"
    expect_close(got, want, inner=2, hint=hint)
toy = ToyCopy(*[9] * 5, 1)
got = measure_bandwidth(18, copy=toy.copy, clock=toy.clock)
left = toy.machine.log.count("clock")
expect_equal((got, left)[1], 10, hint="five repeats where nobody says otherwise")
for cost in (1, 0.5, 2**-30):
    toy = ToyCopy(cost)
    got = measure_bandwidth(6, copy=toy.copy, clock=toy.clock)
    expect_close(got, 12 / cost, hint="bytes read and written over the best time, however short")
toy = ToyCopy(0)
got = measure_bandwidth(10, copy=toy.copy, clock=toy.clock)
expect_close(got, inf, hint="inf where the clock did not move")
rate = measure_bandwidth(1 << 20)
expect_equal((rate, bool(rate > 1e6))[1], True, hint="np.copyto and the CPU clock by default")
for wrong in (0, -1, -(2**40)):
    toy = ToyCopy(1)
    hint = "nbytes < 1: ValueError, before any work"
    expect_raises(ValueError, measure_bandwidth, wrong, 5, toy.copy, toy.clock, hint=hint)
    expect_equal(toy.sizes, [], hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import facts, time_call

machine = facts()
largest = min(2**28, (machine.memory or 2**32) // 8)
sizes = [2**power for power in range(14, largest.bit_length())]
rates = []
for nbytes in sizes:
    source, target = np.ones(nbytes, np.uint8), np.ones(nbytes, np.uint8)
    repeats = 7 if nbytes < 2**26 else 3
    rates.append(2 * nbytes / time_call(np.copyto, target, source, repeats=repeats).best / 1e9)
for nbytes, rate in list(zip(sizes, rates))[::2]:
    print(f"{size_text(nbytes):>8} {rate:7.1f} GB/s")
print(f"From the fastest size to the slowest: a factor of {max(rates) / min(rates):.1f}")
caches = [cache for cache in machine.caches if cache.kind != "instruction"]
axes = new_plot("copying from cache and from memory", "bytes copied", "GB/s, read and written")
if axes:
    axes.plot(sizes, rates, "o-", color=BLUE)
    for cache, colour in zip(caches, (ORANGE, GREEN, RED)):
        axes.axvline(cache.size, color=colour, linestyle="--", linewidth=2)
        axes.text(cache.size, max(rates), f" L{cache.level}", color=colour, va="top")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes[::2], [size_text(size) for size in sizes[::2]], fontsize=8)
    axes.set_ylim(bottom=0)
    levels = ", ".join(f"L{cache.level} {size_text(cache.size)}" for cache in caches)
    show_plot(
        axes,
        f"Rate of a copy against its size: {rates[0]:.0f} GB/s at 16 KB, {rates[-1]:.0f} GB/s at "
        f"{size_text(sizes[-1])}. Vertical lines at the cache sizes: {levels or 'not told'}.",
    )
try:
    print(f"Your measure_bandwidth at 1 MB: {measure_bandwidth(2**20) / 1e9:.1f} GB/s")
except NotImplementedError:
    print("left out: your measure_bandwidth is not written yet")

# %% [markdown]
"""
A copy uses two arrays, so it leaves a cache when *half* of it is full. How far left of the dashed lines does your curve bend? And should it rise first, at the very left: so small a copy is over so soon that the call itself is a good part of its time. For the same reason your number may lie below the curve. You read the clock around each copy, and time few of them; the curve comes from many copies between two readings.

## Exercise 5: The roofline

How fast could a kernel be, at best? Two things limit it: the arithmetic it has to do, and the bytes it has to move. Count both.

A product of (m, k) and (k, n) takes a multiply and an add for each of m·k·n terms. It has to move each of its three matrices at least once: two are read, one is written. Moving them more often is a matter of how it is written; once is compulsory.

Their quotient is the *arithmetic intensity*, in FLOP per byte. A machine that moves `bandwidth` bytes a second can feed at most `intensity * bandwidth` operations a second, and it cannot do more than its `peak`. The lower of the two is the roof:

<img alt="A plot with intensity to the right and FLOP per second upwards, both logarithmic. A line rises from the left, intensity times bandwidth, up to the ridge, and a flat line goes on from there to the right, the peak. Three dots: a dot product far left just below the rising line, softmax to the right of it and further below that line, a large matrix product far right just below the flat line." src="data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='600' height='250' viewBox='0 0 600 250' font-family='sans-serif' font-size='14'><title>A roofline</title>
<path d='M60 10v200h520m-8 -5l8 5l-8 5M55 18l5 -8l5 8' fill='none' stroke='rgb(125,125,125)' stroke-width='2'/>
<path d='M70 196L300 50' fill='none' stroke='rgb(86,180,233)' stroke-width='5'/>
<path d='M300 50L570 50' fill='none' stroke='rgb(230,159,0)' stroke-width='5'/>
<path d='M300 50L300 210' fill='none' stroke='rgb(125,125,125)' stroke-width='2' stroke-dasharray='5 5'/>
<path d='M120 174h.1M216 140h.1M470 64h.1' fill='none' stroke='rgb(0,158,115)' stroke-width='16' stroke-linecap='round'/>
<g fill='rgb(125,125,125)'><text x='390' y='238'>intensity, FLOP per byte</text><text x='70' y='24'>FLOP/s</text><text x='430' y='38'>peak</text><text x='68' y='90'>intensity × bandwidth</text><text x='308' y='200'>ridge</text><text x='134' y='184'>dot product</text><text x='230' y='150'>softmax</text><text x='412' y='94'>large matrix product</text></g>
</svg>">

The two lines meet at the *ridge*, an intensity of `peak / bandwidth`. Left of the ridge a kernel waits for data, and no faster arithmetic helps. Right of it the arithmetic is the limit. Which side a kernel is on decides what you do about it: modules 04, 05 and 10 move fewer bytes, 07 and 08 compute faster.

**Predict.** On which side lies a product of two 1024 x 1024 float32 matrices on a machine of 100 GFLOP/s and 20 GB/s? And the product of such a matrix with one vector?
"""


# %% nbgrader={"grade": false, "grade_id": "roofline", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def matmul_work(m, k, n, itemsize=4):
    """What c = a @ b has to do at least, for m rows in a, n columns in b, and k between them.

    m, k, n  : whole numbers >= 0, however large
    itemsize : bytes of one element; 4 for float32
    returns flops, bytes: multiplications plus additions, and the bytes that move if a, b and c
        move once each; both whole numbers

    >>> list(matmul_work(2, 3, 4))
    [48, 104]
    """
    # Hint: a multiply and an add for each of the m*k*n terms. About 2 lines.
    ### BEGIN SOLUTION
    elements = m * k + k * n + m * n
    return 2 * m * k * n, itemsize * elements
    ### END SOLUTION


def attainable(intensity, peak, bandwidth):
    """The roofline: at most so many FLOP/s, for a kernel of this arithmetic intensity.

        min(peak, intensity * bandwidth)

    intensity : FLOP per byte, >= 0: a number, or an array of any shape (an array of no axes is a
                number); inf is allowed (a kernel that moves nothing) and gives peak; not modified
    peak      : FLOP/s, > 0
    bandwidth : bytes/s, > 0; not GB/s
    returns a float for a number, a new array of floats of the same shape for an array, also where
        everything handed in is a whole number
    raises ValueError for a negative or NaN intensity, and for a peak or bandwidth that is not > 0

    S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model for
    Multicore Architectures, Communications of the ACM 52(4), 2009.

    >>> attainable(2.0, peak=100e9, bandwidth=20e9)
    40000000000.0
    """
    # Hint: np.minimum takes numbers and arrays. NaN fails every comparison. About 5 lines.
    ### BEGIN SOLUTION
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).all() and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, known * bandwidth)
    return roof if known.ndim else float(roof)
    ### END SOLUTION


def measure_roofs(hardware, nbytes=2**26, size=512):
    """The hardware with its two roofs measured; both are what this NumPy reaches, so lower bounds.

    nbytes : size of the copy that gives `bandwidth`; larger than the caches means memory
    size   : rows and columns of the float32 product that gives `peak`, on as many threads as
             NumPy's BLAS uses
    """
    square = np.ones((size, size), np.float32)
    _, seconds = time_samples(np.matmul, square, square)
    flops, _ = matmul_work(size, size, size)
    return replace(hardware, peak=flops / min(seconds), bandwidth=measure_bandwidth(nbytes))


# %% nbgrader={"grade": true, "grade_id": "roofline-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, k, n, itemsize, want in (
    (2, 3, 4, 4, (48, 104)),
    (5, 5, 5, 8, (250, 600)),
    (1000, 1, 1, 4, (2000, 8004)),
):
    answer = matmul_work(m, k, n, itemsize)
    got = tuple(answer) if isinstance(answer, tuple) else answer  # a namedtuple is one too
    flops, moved = want
    without_c = moved - itemsize * m * n
    causes = {
        "a multiply and an add are two": lambda: (flops // 2, moved),
        "three matrices move, not two: c is written": lambda: (flops, without_c),
        "those are elements, not bytes: times itemsize": lambda: (flops, moved // itemsize),
        "c is counted twice: it is written once": lambda: (flops, 2 * moved - without_c),
    }
    hint = "a is (m, k), b is (k, n), c is (m, n); both are whole numbers"
    expect_equal(got, want, likely=causes, hint=hint)
answer = matmul_work(2, 3, 4)
got = tuple(answer) if isinstance(answer, tuple) else answer
expect_equal(got, (48, 104), hint="float32 where nobody says otherwise")

peak, bandwidth = 80e9, 16e9
for intensity, want in ((0.25, 4e9), (3, 48e9), (5.0, 80e9), (64.0, 80e9), (0, 0.0), (inf, 80e9)):
    slope = intensity * bandwidth
    causes = {
        "off by 1e9: bytes/s inside, not GB/s": lambda: min(peak, slope / 1e9),
        "the lower roof wins, and the flat one is missing": lambda: slope,
        "the lower roof wins: min, not max": lambda: max(peak, slope),
        "that divides by the intensity: FLOP/byte times byte/s is FLOP/s": lambda: min(
            peak, bandwidth / intensity
        ),
    }
    hint = "the smaller of peak and intensity * bandwidth; a plain float for a number"
    got = attainable(intensity, peak, bandwidth)
    expect_close(got, want, likely=causes, hint=hint, inner=2)
many = np.array([[0.0, 0.125, 2.0], [5.0, 1e3, inf]])
want = np.array([[0.0, 2e9, 32e9], [80e9, 80e9, 80e9]])
got = expect_unchanged(attainable, many, peak, bandwidth)
hint = "an array of intensities gives an array, element by element"
expect_close(got, want, hint=hint, inner=2)
for whole, want in ((2, 14.0), (np.array([2, 30]), np.array([14.0, 90.0]))):
    hint = "floats, also where all that is handed in are whole numbers: 7.0, not 7"
    case = "whole numbers: peak=90, bandwidth=7"
    got = attainable(whole, 90, 7)
    expect_close(got, want, hint=hint, case=case, inner=2)
for wrong in (-0.5, nan, np.array([1.0, nan, 2.0]), np.array([1.0, -1.0])):
    hint = "a negative or NaN intensity, any one in the array: ValueError"
    expect_raises(ValueError, attainable, wrong, peak, bandwidth, hint=hint)
expect_raises(ValueError, attainable, 1.0, 0.0, bandwidth, hint="a peak of 0: ValueError")
expect_raises(ValueError, attainable, 1.0, peak, -1.0, hint="a negative bandwidth: ValueError")

# %% nbgrader={"grade": true, "grade_id": "roofline-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("roofline-hidden")
for m, k, n, itemsize, want in (
    (3, 0, 4, 4, (0, 48)),
    (0, 5, 0, 8, (0, 0)),
    (0, 2, 3, 1, (0, 6)),
    (1, 7, 1, 2, (14, 30)),
    (2**20, 2**21, 2**20, 4, (2**62, 2**44 + 2**42)),
    (999_999, 2**20 + 1, 10**6, 2, (2 * 999_999 * (2**20 + 1) * 10**6, 6_194_303_902_846)),
):
    answer = matmul_work(m=m, k=k, n=n, itemsize=itemsize)
    got = tuple(answer) if isinstance(answer, tuple) else answer
    hint = "whole numbers of any size, and inner size 0: c is written all the same"
    expect_equal(got, want, hint=hint)
for _ in range(5):
    m, k, n = (int(size) for size in draw.integers(1, 2000, 3))
    want = (2 * m * k * n, 4 * (m * k + k * n + m * n))
    answer = matmul_work(m, k, n)
    got = tuple(answer) if isinstance(answer, tuple) else answer
    expect_equal(got, want, hint="any sizes; float32 by default")
for shape in ((1,), (7,), (3, 4), (2, 1, 5), (0,), (0, 3)):
    many = draw.exponential(3.0, shape)
    peak, bandwidth = (float(value) for value in draw.uniform(1e9, 1e11, 2))
    want = np.where(many * bandwidth < peak, many * bandwidth, peak)
    got = expect_unchanged(attainable, many, peak, bandwidth)
    hint = "an array of any shape, empty ones too"
    expect_close(got, want, inner=2, allow_empty=True, hint=hint)
many = np.array([4, 0, 9])
want = np.array([8.0, 0.0, 10.0])
expect_close(attainable(many, 10, 2), want, inner=2, hint="whole numbers are numbers too")
for intensity, peak, bandwidth, want in (
    (7, 10, 2, 10.0),
    (1, 10, 2, 2.0),
    (inf, 1, 9, 1.0),
    (3, 0.25, 0.125, 0.25),
    (np.array(3.0), 10, 2, 6.0),
    (np.array(9), 10, 2, 10.0),
):
    hint = "a float for a number, also for an array of no axes; inf gives peak"
    got = attainable(intensity=intensity, peak=peak, bandwidth=bandwidth)
    expect_close(got, float(want), inner=2, hint=hint)
for intensity, peak, bandwidth in (
    (-inf, 1.0, 1.0),
    (np.array([[nan]]), 1.0, 1.0),
    (1.0, nan, 1.0),
    (1.0, -1.0, 1.0),
    (1.0, 1.0, nan),
    (1.0, 1.0, 0.0),
    (np.array([1.0, 2.0]), 0, 1.0),
):
    hint = "negative or NaN intensity, peak or bandwidth not > 0: ValueError"
    expect_raises(ValueError, attainable, intensity, peak, bandwidth, hint=hint)
### END HIDDEN TESTS
# %% tags=["raises-exception"]
#| measure
from tito.machine import peaks, time_call

roofs = peaks()
x, y = np.ones(2**24, np.float32), np.ones(2**24, np.float32)
work = {"x . y, 64 MB each": (np.dot, (x, y), 2 * x.size, 2 * x.nbytes)}
for m, k, n in ((1024, 1024, 1), (1024, 1024, 8), (64, 64, 64), (1024, 1024, 1024)):
    a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    work[f"({m}, {k}) @ ({k}, {n})"] = (np.matmul, (a, b), *matmul_work(m, k, n))
peak, memory = roofs.flops("float32"), roofs.bandwidth.get("memory")
if peak and memory:
    print(f"one core of this machine, by a sealed box: {peak / 1e9:.0f} GFLOP/s in float32,")
    print(f"{memory / 1e9:.0f} GB/s from memory; the ridge is at {peak / memory:.1f} FLOP/byte\n")
else:
    print(f"No roofs: {roofs.missing or 'this machine does not tell its caches'}.\n")
print("                             FLOP/byte  GFLOP/s  data from  attainable  reached")
dots = {}
for name, (kernel, arguments, flops, moved) in work.items():
    rate = flops / time_call(kernel, *arguments, repeats=5).best
    dots[name] = (flops / moved, rate)
    line = f"{name:29}{flops / moved:9.2f} {rate / 1e9:8.1f}"
    if peak and roofs.bandwidth_for(moved):
        roof = attainable(flops / moved, peak, roofs.bandwidth_for(moved))
        line += f"  {roofs.level_for(moved):>9} {roof / 1e9:11.1f} {100 * rate / roof:6.0f} %"
    print(line)
axes = new_plot("the roofline of one core", "FLOP per byte", "FLOP/s") if peak and memory else None
if axes:
    reach = np.logspace(-2, 3.5, 200)
    axes.loglog(reach, attainable(reach, peak, memory), color=BLUE, linewidth=2.5, label="memory")
    for (level, rate), colour in zip(roofs.bandwidth.items(), (ORANGE, GREEN, RED)):
        if level != "memory":
            roof = attainable(reach, peak, rate)
            axes.loglog(reach, roof, color=colour, linestyle="--", label=f"{level} cache")
    for (name, (intensity, rate)), sign in zip(dots.items(), "osD^v"):
        axes.loglog(intensity, rate, sign, color="0.5", markersize=8, label=name)
    axes.legend(labelcolor="0.5", framealpha=0, fontsize=8, loc="lower right")
    told = "; ".join(f"{n} {i:.2f} FLOP/byte, {r / 1e9:.0f} GFLOP/s" for n, (i, r) in dots.items())
    show_plot(axes, f"The roofline: memory's line meets the peak of {peak / 1e9:.0f} GFLOP/s at "
              f"{peak / memory:.1f} FLOP/byte. Dots: {told}.")  # fmt: skip

# %% [markdown]
"""
The two roofs come out of a *sealed box*: small kernels in `tito.machine`, compiled for this processor, which do nothing but multiply-adds or loads. Take their numbers on trust for now; modules 07 and 08 open the box, and you write such kernels yourself.

A dot above the line of memory is no mistake: its data were in a cache, and one of the dashed lines is its roof. Where a dot lies clearly above *all* its roofs, somebody has counted wrongly, or the machine was busier while the roof was measured.

## Exercise 6: A profiler

Time is one cost of a call, memory another. `tracemalloc` keeps a record of every block that Python and NumPy allocate and remembers the peak. But the record slows down what it watches, and a time taken meanwhile is the time of something else. So the profiler calls the function twice: first for the two clocks, then under `tracemalloc`.

Two things to get right. What lives already when the second call starts is not the function's, so the peak counts from there. And tracing has to be switched off again *whatever happens*, or all that runs later is slow, and nobody knows why.

**Predict.** `time.sleep(0.1)`: what do the two clocks say? And for a list of 100,000 new numbers: how many times slower is it made while `tracemalloc` watches?
"""


# %% nbgrader={"grade": false, "grade_id": "profiler", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
class SimpleProfiler:
    """What one call costs: time on the wall, time on the CPU, and memory.

    wall, cpu : functions without arguments that return seconds

    >>> result, metrics = SimpleProfiler().profile(sorted, [3, 1, 2])
    >>> result, sorted(metrics)
    ([1, 2, 3], ['cpu_time', 'peak_memory', 'wall_time'])
    """

    def __init__(self, wall=time.perf_counter, cpu=cpu_clock):
        self.wall, self.cpu = wall, cpu

    def profile(self, func, *args, **kwargs):
        """Call `func(*args, **kwargs)` twice: first timed, then under tracemalloc.

        returns result, metrics: what the first call returned, and a dictionary
            "wall_time", "cpu_time"  seconds of the first call, which is not traced
            "peak_memory"            bytes: how far the traced memory rose above its start during
                                     the second call, at least 0; a whole number

        Each clock is read twice. What func raises, in either call, passes through. Tracing is
        left as it was found: off again, or on if it was on before. So func may profile too. Its
        last profile then resets the peak, and the outer one reads what has risen since.
        """
        # Hint: tracemalloc.is_tracing, start, reset_peak, get_traced_memory, stop; try and
        #   finally. About 17 lines.
        ### BEGIN SOLUTION
        wall, cpu = self.wall(), self.cpu()
        result = func(*args, **kwargs)
        metrics = {"cpu_time": self.cpu() - cpu, "wall_time": self.wall() - wall}
        was_on = tracemalloc.is_tracing()
        if not was_on:
            tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            func(*args, **kwargs)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            if not was_on:
                tracemalloc.stop()
        return result, {**metrics, "peak_memory": peak - before}
        ### END SOLUTION


# %% jupyter={"source_hidden": true}
class ToyWork:
    """Work on a machine with two clocks: its first call takes 5 s, 3 of them on the CPU; its
    second takes ten times as long, as if somebody traced it. It may fail at one of its calls."""

    def __init__(self, fails_at=0):
        self.wall_now, self.cpu_now = 100.0, 40.0
        self.calls, self.readings = 0, {"wall": 0, "cpu": 0}
        self.fails_at = fails_at

    def wall(self):
        self.readings["wall"] += 1
        return self.wall_now

    def cpu(self):
        self.readings["cpu"] += 1
        return self.cpu_now

    def work(self, *args, **kwargs):
        self.calls += 1
        slower = 1 if self.calls == 1 else 10
        self.wall_now += 5 * slower
        self.cpu_now += 3 * slower
        if self.calls == self.fails_at:
            raise ArithmeticError(f"at call {self.calls}")
        return self.calls, args, kwargs


# %% nbgrader={"grade": true, "grade_id": "profiler-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
tracemalloc.stop()  # in a notebook, an earlier try may have left it on
own_run = "measure memory in a run of its own"
names = ("wall_time", "cpu_time", "peak_memory")
toy = ToyWork()
got = SimpleProfiler(toy.wall, toy.cpu).profile(toy.work, 7, scale=2)
if not isinstance(got, (tuple, list)) or len(got) != 2:
    raise CheckFailed(
        "SimpleProfiler.profile  returned something other than two values\n"
        f"  got       {got!r}\n"
        "  try       return result, metrics: what the first call returned, and the dictionary"
    )
result, metrics = got
form = {key: None for key in metrics} if isinstance(metrics, dict) else metrics
hint = f"a dictionary with the keys {', '.join(names)}"
expect_equal((metrics, form)[1], dict.fromkeys(names), hint=hint)
if toy.calls != 2:
    raise CheckFailed(
        f"SimpleProfiler.profile  calls of func: {toy.calls}, expected 2\n"
        f"  try       first a call that is timed, then {own_run}: tracing slows what it watches"
    )
causes = {
    f"tracing made it 10 times slower: {own_run}": (1, (7,), {"scale": 2}, 50.0, 30.0),
    "that is the time of both calls": (1, (7,), {"scale": 2}, 55.0, 33.0),
    "the two clocks are exchanged": (1, (7,), {"scale": 2}, 3.0, 5.0),
    "that is the result of the traced call": (2, (7,), {"scale": 2}, 5.0, 3.0),
    "func was called without its arguments": (1, (), {}, 5.0, 3.0),
}
want = (1, (7,), {"scale": 2}, 5.0, 3.0)
got = (*result, metrics["wall_time"], metrics["cpu_time"])
likely = {cause: lambda answer=answer: answer for cause, answer in causes.items()}
hint = "result, wall_time and cpu_time are those of the first call, which is not traced"
expect_equal(got, want, likely=likely, hint=hint, case="takes 5 s, 3 s of them on the CPU")

profiler, peaks_seen = SimpleProfiler(), []


def profiles_too():
    """In its second call tracing is on already, and an array lives from the inner first call."""
    peaks_seen.append((100_000, profiler.profile(np.ones, 100_000)[1]["peak_memory"]))


for size in (250_000, 1000):
    result, metrics = profiler.profile(np.ones, size)
    expect_close(result, np.ones(size), hint="the result is handed on")
    peaks_seen.append((size, metrics["peak_memory"]))
profiler.profile(profiles_too)
expect_equal(len(peaks_seen), 4, hint="func is called twice, also where it profiles itself")
for size, peak in peaks_seen:
    if isinstance(peak, bool) or not isinstance(peak, (int, np.integer)):
        raise CheckFailed(
            f'SimpleProfiler.profile  metrics["peak_memory"] is {peak!r}, a {type(peak).__name__}\n'
            "  try       an int: peak_memory is a whole number of bytes"
        )
    if not 8 * size <= peak <= 8 * size + 100_000:
        likely = "the peak counts what lived before: subtract the start"
        if peak < 8 * size:
            likely = "that is what was left at the end: the peak is the second of the two numbers"
        raise CheckFailed(
            f"SimpleProfiler.profile  np.ones({size}): peak_memory is {peak:,} bytes, but the array "
            f"has {8 * size:,}\n"
            f"  likely    {likely}\n"
            "  try       get_traced_memory() gives (current, peak): the peak after the call, less "
            "the current memory before it"
        )
for call in (1, 2):
    toy = ToyWork(fails_at=call)
    hint = "what func raises passes through"
    expect_raises(ArithmeticError, profiler.profile, toy.work, match=f"call {call}", hint=hint)
    traced, _ = profiler.profile(tracemalloc.is_tracing)
    if traced:
        raise CheckFailed(
            "SimpleProfiler.profile  the call that is timed ran under tracemalloc\n"
            f"  likely    tracing was left on after an exception: use finally; or {own_run}"
        )

# %% nbgrader={"grade": true, "grade_id": "profiler-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
tracemalloc.stop()
draw = rng("profiler-hidden")
for _ in range(3):
    toy = ToyWork()
    given = int(draw.integers(1000))
    result, metrics = SimpleProfiler(cpu=toy.cpu, wall=toy.wall).profile(toy.work, given, name="x")
    hint = "the result of the first call, and all arguments handed on"
    expect_equal(result, (1, (given,), {"name": "x"}), hint=hint)
    hint = "seconds of the first call, each from its own clock"
    expect_close(metrics["wall_time"], 5.0, hint=hint)
    expect_close(metrics["cpu_time"], 3.0, hint=hint)
    hint = "two calls of func, two readings of each clock"
    expect_equal((result, toy.calls)[1], 2, hint=hint)
    expect_equal((result, toy.readings)[1], {"wall": 2, "cpu": 2}, hint=hint)
profiler = SimpleProfiler()
sizes = [int(size) for size in draw.integers(100_000, 300_000, 2)]
for size in (*sizes, 0, sizes[0], 1):
    result, metrics = profiler.profile(np.ones, size)
    expect_close(result, np.ones(size), allow_empty=True, hint="the result is handed on")
    near = bool(8 * size <= metrics["peak_memory"] <= 8 * size + 100_000)
    hint = "each call's own peak above its start, whatever was profiled before"
    expect_equal((metrics, near)[1], True, hint=hint)
inner_peaks = []


def profiles_too():
    for size in (3 * sizes[0], sizes[0]):
        inner_peaks.append((size, profiler.profile(np.ones, size)[1]["peak_memory"]))


result, metrics = profiler.profile(profiles_too)
near = [bool(8 * size <= peak <= 8 * size + 100_000) for size, peak in inner_peaks]
hint = "a call that profiles too: what lives before it is not its own, and tracing stays on"
expect_equal((metrics, near)[1], [True] * 4, hint=hint)
result, metrics = profiler.profile(profiler.profile, np.ones, sizes[0])
inner, inner_metrics = result
expect_close(inner, np.ones(sizes[0]), hint="profile may profile itself")
for peak in (inner_metrics["peak_memory"], metrics["peak_memory"]):
    near = bool(8 * sizes[0] <= peak <= 2 * 8 * sizes[0] + 200_000)
    expect_equal((metrics, near)[1], True, hint="the inner call leaves the outer one's tracing on")
traced, _ = profiler.profile(profiler.profile, tracemalloc.is_tracing)
expect_equal(traced[0], False, hint="the timed call is not traced, an inner one neither")
result, metrics = SimpleProfiler().profile(time.sleep, 0.05)
waited = metrics["wall_time"] >= 0.04 > metrics["cpu_time"]
hint = "without arguments: perf_counter, which sees waiting, and cpu_clock, which does not"
expect_equal((metrics, waited)[1], True, hint=hint)
for call in (1, 2):
    toy = ToyWork(fails_at=call)
    hint = "what func raises passes through, and tracing is off again"
    expect_raises(ArithmeticError, profiler.profile, toy.work, match=f"call {call}", hint=hint)
    traced, _ = profiler.profile(tracemalloc.is_tracing)
    expect_equal(traced, False, hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

a = np.ones(250_000)


def as_list():
    return [float(i) for i in range(100_000)]


def with_temporary():
    return float(np.sum(a * a))


def without():
    return float(np.dot(a, a))


profiler = SimpleProfiler()
result, slept = profiler.profile(time.sleep, 0.1)
print(f"time.sleep(0.1)   wall {slept['wall_time']:.3f} s   CPU {slept['cpu_time']:.3f} s\n")
print("                        peak memory        time   under tracemalloc")
for func in (as_list, with_temporary, without):
    _, metrics = profiler.profile(func)
    plain = time_call(func).median
    tracemalloc.start()
    traced = time_call(func).median
    tracemalloc.stop()
    print(
        f"{func.__name__:18}{metrics['peak_memory'] / 1e3:14,.0f} KB {plain * 1e6:8,.0f} us   "
        f"{traced / plain:6.1f} times that"
    )

# %% [markdown]
"""
## Use it: a network of two layers

A layer of a network is a matrix product and a ReLU. This one has two, and there are 256 inputs. You can send them through one by one, or stack them into a matrix and send them all at once. The arithmetic is the same to the last operation.

Your `matmul_work` says what each way has to move, and so which of them can be fast at all. The trusted timer says what came of it, and your `compare` stands beside it.

**Predict.** How many times faster is the stack?
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import blas
from tito.machine import compare as trusted

draw = np.random.default_rng(1)
inputs = draw.standard_normal((256, 512), np.float32)
first, second = (draw.standard_normal((512, n), np.float32) / 23 for n in (512, 16))


def network(rows):
    """Two layers, for one row or for many."""
    return np.maximum(rows @ first, 0) @ second


def one_by_one(inputs):
    return np.array([network(row[None]) for row in inputs])[:, 0]


apart = np.max(np.abs(one_by_one(inputs) - network(inputs)))
both = trusted(one_by_one=lambda: one_by_one(inputs), stacked=lambda: network(inputs))
low, ratio, high = both.ratios["stacked"]
print(f"largest difference of the answers {apart:.1e}")
print(f"stacked is {ratio:.1f} times as fast ({low:.1f} to {high:.1f})")
try:
    for rows in (1, 256):
        flops, moved = matmul_work(rows, *first.shape)
        print(f"first layer, {rows:3} rows at once: {flops / moved:6.2f} FLOP/byte")
    with blas.one_thread():
        yours = compare(one_by_one, network, lambda: (inputs.copy(),))
    print(f"your compare: {yours['ratio']:.1f}, {yours['low']:.1f} to {yours['high']:.1f}", end="")
    print(f", {yours['verdict']}")
except NotImplementedError:
    print("left out: your matmul_work or compare is not written yet")

# %% [markdown]
"""
## Scoreboard

Every module ends in one: all rungs so far, each checked before it is timed, with its share of what this machine could do. Here there are no kernels yet, only the two lines that NumPy draws: the rate of arithmetic and the rate of bytes. The roofs below them are those of the sealed box, for each width of the vector unit and each cache.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, peaks, scoreboard

a = np.ones((512, 512), np.float32)
x = np.ones(2**24, np.float32)
y = np.zeros_like(x)


def copied(target, source):
    np.copyto(target, source)
    return target


def expect_product(result):
    expect_equal(float(result.max()), 512.0)


def expect_ones(result):
    expect_equal(float(result.min()), 1.0)


board = scoreboard(
    [
        Rung("peak: NumPy a @ a", np.matmul, (a, a), check=expect_product, flops=2 * 512**3),
        Rung(
            "bandwidth: NumPy copy",
            copied,
            (y, x),
            check=expect_ones,
            nbytes=2 * x.nbytes,
            writes=(0,),
        ),
    ]
)
print(board)
print()
print(peaks())

# %% [markdown]
"""
## Think

Your answers here are read by a person. Three to six sentences each; numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. Why the median of ratios, not the ratio of medians?** `compare` divides within each round and takes the median last. It could take the median time of each function first and divide once. When do the two differ, and why is the first one right?

### BEGIN SOLUTION
1 point: within a round both functions see nearly the same machine, so what slows both of them (clock rate, load, another program) drops out of the quotient; between rounds the machine may drift as it likes.

1 point: a case in which they differ: the machine slows half-way, or drifts, so that the median time of A comes from another phase than the median time of B; or a number from the cell of exercise 3, or the test whose machine slows between A and B of one round (0.67 against 2.0). "The median is robust" alone: 0, it is a median in both.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. "It is 1.8 times faster."** A colleague ran the old and the new version once each on a laptop, with `time.time()` around them. What do you ask, before you believe it? Name at least four things, and for the two that matter most say how the number could come out wrong without them.

### BEGIN SOLUTION
1 point: at least four of: was there a warm-up (compilation, first touch, caches); several runs, interleaved; what spread; which clock, and what else ran; how many threads, BLAS included; which sizes and layouts; same inputs for both, fresh if they are changed; are the results equal; what machine, on mains or battery.

1 point: for two of them, how the ratio goes wrong, with a direction or a size: "the first call of the new version compiled, so it looks slower than it is", "the laptop throttled in the second run: all A then all B read as 0.67 for a true 2.0". A list without reasons gets at most 1 point.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. What does the CPU clock not see?** `time.thread_time` held its ratio on the busy machine. Name what it is blind to, and one kernel or program of yours that it would judge wrongly.

### BEGIN SOLUTION
1 point: it stands still while the thread waits (files, network, locks, sleep), and it does not count what other threads do, so a kernel that spreads its work over threads looks faster than it is.

1 point: it does see, but does not separate, what neighbours take from shared caches and memory channels (the copy in exercise 3 moved under load), or a lower clock rate; or a fitting example with its reason, such as `time.sleep`, reading a file, `a @ a` with a BLAS of several threads.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *The first sample is far too large.* It holds compiling, importing, or the first touch of memory. Warm up before the clock is read.
- *The ratio is right on Monday and wrong on Tuesday.* All of A ran before all of B. Interleave.
- *Better than the roof.* The bytes or operations are counted wrongly, the data never left a cache, or a GB/s stands where a byte/s should.
- *A kernel takes 0 seconds.* The clock's step is longer than the kernel (on Windows the CPU clock moves every 16 ms). Do more work between two readings.
- *The second kernel is faster because the first has sorted its input.* Fresh arguments for each call.
- *Everything is slow since the profiler ran.* Something raised, and tracing is still on. `finally` is for that.

## You are done when

- every test cell above runs without a message, and `tito test 01` says the same;
- you have compared your predictions with what the cells printed, above all the gap and the table of exercise 3;
- you can say for one kernel of yours on which side of the ridge it lies;
- the three questions have an answer;
- `tito export 01` has written `tinykernels/measure.py`, and you find your own words in it.

## In production

Google Benchmark, the usual harness for C++, warms up, repeats until the time is long against the clock, and reports median and deviation over repetitions. Python's `pyperf` runs a benchmark in many fresh processes, because memory layout and hash seeds differ from process to process, and warns when the deviation is too large to compare. `asv` keeps a project's timings over its history. Intel Advisor and NVIDIA Nsight Compute draw the roofline of your program from hardware counters. All of them report a spread; a bare number is the mark of a slide.

**References**

- S. Williams, A. Waterman, D. Patterson, *Roofline: An Insightful Visual Performance Model for Multicore Architectures*, Communications of the ACM 52(4), 2009.
- A. Georges, D. Buytaert, L. Eeckhout, *Statistically Rigorous Java Performance Evaluation*, OOPSLA 2007.
- T. Mytkowicz, A. Diwan, M. Hauswirth, P. F. Sweeney, *Producing Wrong Data Without Doing Anything Obviously Wrong!*, ASPLOS 2009.

## Next

In a terminal:

    tito test 01       the visible tests, in a process of their own
    tito export 01     your tools become tinykernels/measure.py
    tito submit 01     the file to hand in

Then module 02: every kernel of this course as a plain loop, slow and exact.
"""

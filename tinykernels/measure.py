# Built from module 01_measure by tito export; edit the module, not this file.
"""Measure: say "twice as fast" and be right."""

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
from pathlib import Path

import numpy as np

__all__ = [
    "LINUX_FEATURES",
    "MACOS_FEATURES",
    "WINDOWS_FEATURES",
    "Hardware",
    "SimpleProfiler",
    "attainable",
    "compare",
    "cpu_clock",
    "matmul_work",
    "measure_bandwidth",
    "measure_roofs",
    "summarize",
    "time_kernel",
    "time_samples",
]


# 01_measure: cpu_clock
cpu_clock = time.thread_time


# 01_measure: MACOS_FEATURES, WINDOWS_FEATURES, LINUX_FEATURES
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


# 01_measure: time_samples
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


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    """The time of one call of `func(*args, **kwargs)`: the median of `time_samples`.

    returns result, microseconds: what the last call returned, and the median of seven timed calls
        after one that is not timed. It is the only function here that does not speak in seconds:
        a kernel takes about a microsecond, and people read that more easily than 1e-06

    >>> time_kernel(sorted, [3, 1, 2])[0]
    [1, 2, 3]
    """
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6


# 01_measure: summarize
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
    runs = np.asarray(seconds, dtype=float)
    if runs.size == 0 or not np.isfinite(runs).all() or runs.min() < 0:
        raise ValueError(f"at least one sample is needed, all finite and >= 0, not {seconds}")
    best, p10, median, p90 = (float(value) for value in np.percentile(runs, (0, 10, 50, 90)))
    spread = (p90 - p10) / median if median > 0 else 0.0
    return {"best": best, "median": median, "p10": p10, "p90": p90, "spread": spread}


# 01_measure: compare
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


# 01_measure: measure_bandwidth
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
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    source = np.ones(nbytes, np.uint8)
    target = source.copy()
    _, seconds = time_samples(copy, target, source, repeats=repeats, clock=clock)
    best = min(seconds)
    return 2 * nbytes / best if best > 0 else math.inf


# 01_measure: roofline
def matmul_work(m, k, n, itemsize=4):
    """What c = a @ b has to do at least, for m rows in a, n columns in b, and k between them.

    m, k, n  : whole numbers >= 0, however large
    itemsize : bytes of one element; 4 for float32
    returns flops, bytes: multiplications plus additions, and the bytes that move if a, b and c
        move once each; both whole numbers

    >>> list(matmul_work(2, 3, 4))
    [48, 104]
    """
    elements = m * k + k * n + m * n
    return 2 * m * k * n, itemsize * elements


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
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).all() and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, known * bandwidth)
    return roof if known.ndim else float(roof)


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


# 01_measure: profiler
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

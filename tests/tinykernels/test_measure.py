"""The exported tools of module 01: contracts by name, readings beside those of tito.machine."""

import doctest
import inspect
import math
import struct
import sys
import time
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinykernels import measure
from tito.machine import facts

TIMES = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=30)


class Script:
    """A clock that gives out readings written beforehand, and counts them."""

    def __init__(self, *durations):
        self.readings = []
        now = 0.0
        for duration in durations:
            self.readings += [now, now + duration]
            now += duration + 17
        self.given = 0

    def __call__(self):
        self.given += 1
        return self.readings[self.given - 1]


def test_the_examples_of_the_docstrings_are_right():
    found = doctest.testmod(measure)
    assert found.failed == 0
    assert found.attempted >= 9


def test_names_and_arguments_are_those_of_the_contract():
    def arguments(func):
        return list(inspect.signature(func).parameters)

    assert arguments(measure.time_samples) == [
        *("func", "args", "repeats", "warmup", "clock", "kwargs")
    ]
    assert arguments(measure.time_kernel) == ["func", "args", "clock", "kwargs"]
    assert arguments(measure.summarize) == ["seconds"]
    assert arguments(measure.compare) == ["baseline", "candidate", "make_args", "rounds", "clock"]
    assert arguments(measure.measure_bandwidth) == ["nbytes", "repeats", "copy", "clock"]
    assert arguments(measure.matmul_work) == ["m", "k", "n", "itemsize"]
    assert arguments(measure.attainable) == ["intensity", "peak", "bandwidth"]
    assert arguments(measure.SimpleProfiler) == ["wall", "cpu"]
    assert arguments(measure.SimpleProfiler().profile) == ["func", "args", "kwargs"]
    assert measure.cpu_clock is time.thread_time


def test_time_kernel_returns_the_result_and_microseconds():
    clock = Script(3, 1, 2, 9, 4, 1, 2)
    found = measure.time_kernel(lambda x, scale: x * scale, 21, scale=2, clock=clock)
    assert found == (42, 2e6)
    assert clock.given == 14
    result, microseconds = measure.time_kernel(sorted, [2, 1])
    assert result == [1, 2]
    assert type(microseconds) is float


@given(TIMES)
def test_a_summary_lies_between_the_extremes(seconds):
    found = measure.summarize(seconds=seconds)
    assert list(found) == ["best", "median", "p10", "p90", "spread"]
    ordered = [min(seconds), found["p10"], found["median"], found["p90"], max(seconds)]
    assert all(a <= b * (1 + 1e-12) for a, b in pairwise(ordered))
    assert found["best"] == min(seconds)
    assert found["spread"] >= 0


@given(TIMES, st.sampled_from([2.0, 0.25, 1024.0]))
def test_a_spread_has_no_unit(seconds, factor):
    scaled = measure.summarize([factor * value for value in seconds])
    assert scaled["spread"] == measure.summarize(seconds)["spread"]


@given(st.integers(1, 99), st.integers(1, 99))
def test_a_comparison_upside_down_has_the_opposite_verdict(slow, fast):
    def compared(first, second):
        """In the second round the candidate goes first."""
        return measure.compare(
            baseline=abs,
            candidate=abs,
            make_args=lambda: (-1,),
            rounds=2,
            clock=Script(first, second, second, first),
        )

    one, other = compared(slow, fast), compared(fast, slow)
    assert list(one) == ["ratio", "low", "high", "verdict"]
    assert one["ratio"] == one["low"] == one["high"] == slow / fast
    opposite = {"faster": "slower", "slower": "faster", "same": "same"}
    assert other["verdict"] == opposite[one["verdict"]]


@pytest.mark.clock
def test_a_comparison_on_the_real_clock_sees_ten_times_the_work():
    found = measure.compare(
        lambda a: [np.sort(a) for _ in range(20)],
        lambda a: [np.sort(a) for _ in range(2)],
        make_args=lambda: (np.sin(np.arange(20_000.0)),),
        rounds=5,
    )
    assert found["verdict"] == "faster"
    assert 4 < found["ratio"] < 25


def test_bandwidth_counts_bytes_read_and_written():
    clock = Script(5, 2, 4)
    assert measure.measure_bandwidth(nbytes=1001, repeats=3, clock=clock) == 1001.0
    assert measure.measure_bandwidth(2**22) > 1e8


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_work_of_a_product_is_that_of_its_transpose(m, k, n):
    assert measure.matmul_work(m=m, k=k, n=n) == measure.matmul_work(n, k, m)
    flops, moved = measure.matmul_work(m, k, n, itemsize=8)
    arrays = [np.zeros(shape) for shape in ((m, k), (k, n), (m, n))]
    assert moved == sum(array.nbytes for array in arrays)
    assert flops == 2 * m * k * n


def test_the_roof_rises_to_the_ridge_and_is_flat_from_there():
    intensity = np.array([0, 1, 4, 5, 6, math.inf])
    roof = measure.attainable(intensity=intensity, peak=100e9, bandwidth=20e9)
    assert np.array_equal(roof, [0, 20e9, 80e9, 100e9, 100e9, 100e9])
    assert type(measure.attainable(1, 2, 3)) is float


def test_the_profiler_has_the_keys_of_the_contract():
    result, metrics = measure.SimpleProfiler().profile(np.full, shape=100_000, fill_value=2.0)
    assert result.sum() == 200_000
    assert set(metrics) == {"wall_time", "cpu_time", "peak_memory"}
    assert metrics["wall_time"] > 0
    assert 800_000 <= metrics["peak_memory"] < 900_000
    assert not tracemalloc.is_tracing()


def test_the_profiler_leaves_tracing_as_it_found_it():
    tracemalloc.start()
    try:
        kept = np.ones(500_000)
        assert np.ones(2_000_000).any()  # gone again, but the peak remembers it
        _, metrics = measure.SimpleProfiler().profile(np.ones, 1000)
        assert tracemalloc.is_tracing()
        assert 8000 <= metrics["peak_memory"] < 50_000 < kept.nbytes
    finally:
        tracemalloc.stop()


def test_detected_hardware_is_what_the_machine_tells_the_other_reader_too():
    found, told = measure.Hardware.detect(), facts()
    caches = {f"l{cache.level}": cache for cache in told.caches}
    for name in ("l1", "l2", "l3"):
        size = caches[name].size if name in caches else None
        assert getattr(found, name) == size
    assert found.line == (told.caches[0].line if told.caches else None)
    assert found.cores is not None
    assert told.cores <= found.cores  # a quota of a container may leave fewer
    if found.features is not None:
        assert set(found.features) <= set(told.features)
    assert found.memory is None or found.memory >= told.memory


def test_what_no_system_tells_is_none():
    found = measure.Hardware.detect()
    assert (found.peak, found.bandwidth) == (None, None)


def test_an_unknown_system_tells_nothing_but_its_cores(monkeypatch):
    monkeypatch.setattr(sys, "platform", "plan9")
    found = measure.Hardware.detect()
    assert found == measure.Hardware(cores=found.cores)


def test_a_source_that_cannot_be_read_costs_its_own_facts_only(monkeypatch):
    def unreadable():
        raise OSError("no such file")

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(
        measure, "_read_linux", lambda: (unreadable, lambda: {"memory": 5}, lambda: {}["flags"])
    )
    assert measure.Hardware.detect() == measure.Hardware(cores=measure._usable_cores(), memory=5)


def test_the_text_of_sysctl_is_read(monkeypatch):
    text = (
        "hw.memsize: 17179869184\nhw.cachelinesize: 128\nhw.l1dcachesize: 65536\n"
        "hw.l1icachesize: 131072\nhw.l2cachesize: 4194304\nhw.optional.AdvSIMD: 1\n"
        "hw.optional.avx2_0: 0\nhw.model: Mac14,2\n"
    )

    def run(command, **kwargs):
        return measure.subprocess.CompletedProcess(command, 0, stdout=text)

    monkeypatch.setattr(measure.subprocess, "run", run)
    monkeypatch.setattr(sys, "platform", "darwin")
    found = measure.Hardware.detect()
    assert (found.l1, found.l2, found.l3, found.line) == (65536, 4194304, None, 128)
    assert (found.memory, found.features) == (17179869184, ("asimd",))


def test_the_cache_table_of_windows_is_read():
    def entry(relation, level=0, line=0, size=0, kind=0):
        return struct.pack("<QI4xBBHII4x", 1, relation, level, 8, line, size, kind)

    table = b"".join(
        (
            entry(0),
            entry(2, 1, 64, 49152, kind=2),
            entry(2, 1, 64, 32768, kind=1),
            entry(2, 2, 64, 1310720, kind=0),
            entry(2, 3, 64, 12582912, kind=0),
        )
    )
    want = {"l1": 49152, "l2": 1310720, "l3": 12582912, "line": 64}
    assert measure._windows_caches(table) == want
    assert measure._windows_caches(b"") == {}


def test_measured_roofs_are_put_beside_what_was_read():
    hardware = measure.Hardware(cores=3)
    found = measure.measure_roofs(hardware, nbytes=2**16, size=32)
    assert found.cores == 3
    assert 1e6 < found.peak < 1e14
    assert 1e6 < found.bandwidth < 1e13

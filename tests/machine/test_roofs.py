"""Peaks of this machine: measured, and where they are not, said so."""

import doctest
import itertools
import os
import subprocess
import sys

import pytest

from tito.machine import boxes, caches, hardware, peaks, pinning, roofs, timer
from tito.machine.caches import Cache
from tito.machine.roofs import Peaks, working_sets

MIB = 2**20
CACHES = (Cache(1, "data", 2**15), Cache(2, "unified", MIB), Cache(3, "unified", 32 * MIB))
no_vectors = pytest.mark.skipif(
    not boxes.available() or not boxes.widths(hardware.features()), reason="nothing to measure"
)


@pytest.fixture(scope="module")
def measured():
    return peaks()


@no_vectors
def test_a_wider_vector_is_not_slower(measured):
    rates = list(measured.by_width.values())
    assert all(wide > 0.8 * narrow for narrow, wide in itertools.pairwise(rates))
    assert measured.flops() == max(rates) == measured.flops("float32")


@no_vectors
def test_float64_is_half_as_fast(measured):
    assert measured.flops("float64") / measured.flops() == pytest.approx(0.5, rel=0.3)


@no_vectors
def test_the_peak_is_above_what_a_good_kernel_reaches(measured):
    """A roof: NumPy's own product of matrices stays below it (a third above: a noisy machine)."""
    numpy = pytest.importorskip("numpy")
    if pinning.blas.threads() is None:
        pytest.skip("NumPy's BLAS may use threads that cannot be told to rest")
    x = numpy.ones((256, 256), numpy.float32)
    rate = 2 * 256**3 / timer.time_call(numpy.matmul, x, x).best
    assert 0.1 < rate / measured.flops() < 1.3


@no_vectors
def test_levels_are_those_that_were_read(measured):
    names = [c.name for c in hardware.caches() if c.name in measured.bandwidth]
    assert list(measured.holds) == names
    assert list(measured.bandwidth) in ([*names, "memory"], names)
    assert measured.copying.keys() == measured.bandwidth.keys()
    if "L1" in names and "memory" in measured.bandwidth:
        assert measured.bandwidth["L1"] > measured.bandwidth["memory"]


@no_vectors
def test_they_are_measured_once(measured):
    assert peaks() is measured


@no_vectors
def test_they_read_well(measured):
    text = str(measured)
    assert "GFLOP/s" in text and "GB/s" in text and "one thread, CPU time" in text


@pytest.mark.parametrize("dtype", ["float16", "int32", "complex64"])
def test_a_type_that_was_not_measured_has_no_peak(dtype):
    assert Peaks(by_width={128: 1e9}, widest64=1e9).flops(dtype) is None


def test_without_numba_nothing_is_known_and_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    unknown = peaks.__wrapped__()
    assert unknown.flops() is None and unknown.flops("float64") is None
    assert unknown.bandwidth_for(10) is None and unknown.level_for(10) is None
    assert "Numba" in str(unknown) and len(str(unknown).splitlines()) == 1


def _printed(**env):
    done = subprocess.run(
        [sys.executable, "-c", "from tito.machine import peaks; print(peaks())"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.skipif(not boxes.available(), reason="Numba is missing")
def test_without_compiling_nothing_is_known():
    assert _printed(NUMBA_DISABLE_JIT="1") == roofs.NO_NUMBA


@pytest.mark.skipif(not boxes.available(), reason="Numba is missing")
@pytest.mark.skipif("fma" not in hardware.features(), reason="this CPU has no multiply-adds")
def test_code_for_another_cpu_measures_no_roof_of_this_one():
    assert _printed(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == roofs.OTHER_CPU


@pytest.mark.skipif(not boxes.available(), reason="Numba is missing")
def test_a_cpu_of_another_kind_is_not_guessed_at(monkeypatch):
    monkeypatch.setattr(boxes.platform, "machine", lambda: "riscv64")
    assert str(peaks.__wrapped__()) == roofs.NO_CPU


@pytest.mark.skipif(not boxes.available(), reason="Numba is missing")
def test_a_probe_that_fails_costs_no_table(monkeypatch):
    def fails(*args):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(boxes, "widths", lambda features: (128,))
    monkeypatch.setattr(boxes, "multiply_add", fails)
    assert "RuntimeError: no such instruction" in peaks.__wrapped__().missing


@pytest.mark.parametrize(
    ("found", "free", "sizes"),
    [
        (CACHES, None, [2**14, 2**17, 4 * MIB, 128 * MIB]),
        # A last cache of a server: memory is read in half a gibibyte at most.
        ((*CACHES[:2], Cache(3, "unified", 256 * MIB)), None, [2**14, 2**17, 4 * MIB, 2**29]),
        # So large that half a gibibyte would mostly come from it: memory is not measured.
        ((*CACHES[:2], Cache(3, "unified", 512 * MIB)), None, [2**14, 2**17, 4 * MIB]),
        (CACHES, 800 * MIB, [2**14, 2**17, 4 * MIB, 100 * MIB]),
        (CACHES, 80 * MIB, [2**14, 2**17, 4 * MIB]),
        ((), None, [64 * MIB]),
        # At most half of a cache, though it is little more than the one before.
        (
            (Cache(1, "data", MIB // 4), Cache(2, "unified", MIB)),
            None,
            [MIB // 8, MIB // 2, 64 * MIB],
        ),
        # A level that is no larger than the one before cannot be told from it.
        ((Cache(1, "data", MIB), Cache(2, "unified", 2 * MIB)), None, [MIB // 2, 64 * MIB]),
    ],
)
def test_sizes_follow_the_caches_and_the_free_memory(found, free, sizes):
    assert list(working_sets(found, free).values()) == sizes


@pytest.mark.parametrize("module", [roofs, caches, pinning, boxes])
def test_the_examples_run(module):
    assert doctest.testmod(module).failed == 0

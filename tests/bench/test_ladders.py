"""Workloads: counts, inputs and specifications, against loops that anyone can read."""

import sys

import numpy as np
import pytest

from tests.bench import course
from tinykernels import loops
from tito.bench import workload as workload_file
from tito.bench.ladders import EPS, WORKLOADS
from tito.bench.sizes import shown
from tito.bench.workload import Kernel, arguments, load

SMALL = {
    "gemm": (3, 5, 4),
    "softmax": (3, 7),
    "layernorm": (3, 7),
    "relu": (3, 7),
    "conv": (2, 4, 5, 3),
    "int8": (3, 5, 4),
    "q4": (64, 5),
}
LOOPS = {
    "gemm": loops.matmul_loops,
    "softmax": loops.softmax_loops,
    "layernorm": lambda x, gamma, beta: loops.layernorm_loops(x, gamma, beta, EPS),
    "relu": loops.relu_loops,
    "conv": lambda x, w: loops.conv2d_loops(x, w, padding=1),
    "int8": loops.matmul_loops,
    "q4": lambda weights, x: loops.matmul_loops(weights, x[:, None])[:, 0],
}
# Which hold few different numbers, because they have to be exact in few bits.
FEW = {"int8": np.int8, "q4": np.float32}


def wide(arrays):
    return [a.astype(np.float64) for a in arrays]


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_specification_is_what_the_slow_loops_say_in_float64(name):
    inputs = WORKLOADS[name].inputs(*SMALL[name])
    want = WORKLOADS[name].specification(*inputs).want
    assert want.dtype == np.float64
    np.testing.assert_allclose(want, LOOPS[name](*wide(inputs)), rtol=1e-12, atol=1e-12)


def test_a_product_deeper_than_a_slab_is_whole():
    workload = WORKLOADS["gemm"]
    a, b = workload.inputs(3, 2 * workload_file.SLAB + 5, 4)
    expected = workload.specification(a, b)
    np.testing.assert_allclose(expected.want, np.einsum("ik,kj->ij", *wide([a, b])), rtol=1e-12)
    np.testing.assert_allclose(
        expected.scale, np.einsum("ik,kj->ij", *wide([abs(a), abs(b)])), rtol=1e-12
    )


@pytest.mark.parametrize("name", WORKLOADS)
def test_inputs_are_in_c_order_written_throughout_and_the_same_each_time(name):
    workload, dtype = WORKLOADS[name], FEW.get(name, np.float32)
    first, again = (workload.inputs(*workload.sizes[0]) for _ in range(2))
    for array, other in zip(first, again):
        assert array.dtype == dtype and array.flags.c_contiguous and array.flags.owndata
        assert np.array_equal(array, other)
        assert np.count_nonzero(array) > 0.99 * array.size  # no page is still untouched
        assert len(np.unique(array)) > (80 if name in FEW else 0.9 * array.size)


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name != "q4"])
def test_bytes_are_those_of_the_inputs_and_the_result(name):
    workload = WORKLOADS[name]
    inputs = workload.inputs(*SMALL[name])
    result = workload.specification(*inputs).want.astype(np.float32)
    work = workload.work(*SMALL[name])
    assert work.nbytes == sum(a.nbytes for a in inputs) + result.nbytes
    assert workload.needs(SMALL[name]) >= 5 * work.nbytes


def test_flops_are_two_for_each_product_that_is_added():
    assert WORKLOADS["gemm"].work(3, 5, 4).flops == 2 * 3 * 5 * 4
    assert WORKLOADS["conv"].work(2, 4, 5, 3).flops == 2 * (3 * 4 * 5) * (2 * 9)
    assert WORKLOADS["int8"].work(3, 5, 4).flops == 2 * 3 * 5 * 4
    assert WORKLOADS["q4"].work(64, 5).flops == 2 * 64 * 5
    assert WORKLOADS["softmax"].work(3, 7).flops == 0  # bytes are what it is measured by


def test_sizes_beside_a_power_of_two_are_among_those_that_nobody_asked_for():
    """A power of two as row length is a case of its own for a cache."""
    for name, workload in WORKLOADS.items():
        inner = {dims[-1] for dims in workload.sizes}
        assert any(n & (n - 1) for dims in workload.sizes for n in dims), (name, inner)


def test_sizes_are_written_as_they_are_read():
    for workload in WORKLOADS.values():
        for dims in workload.sizes:
            assert len(dims) == len(workload.axes) and "x" in shown(dims)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes a package and puts it first; the real one comes back afterwards."""

    def install(**files):
        monkeypatch.syspath_prepend(str(course.make(tmp_path / "course", **files)))

    own = {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "tinykernels"}
    for name in own:
        monkeypatch.delitem(sys.modules, name)
    yield install
    for name in [n for n in sys.modules if n.partition(".")[0] == "tinykernels"]:
        del sys.modules[name]
    sys.modules.update(own)


def test_a_kernel_is_found_by_its_name(package):
    package(loops="def matmul_loops(a, b): return 1", simd__gemm="def gemm(a, b): return 2")
    assert load(Kernel("loops.matmul_loops"))(0, 0) == 1
    assert load(Kernel("simd.gemm.gemm"))(0, 0) == 2


def test_what_is_not_there_is_absent(package):
    package(loops="matmul_loops = None")
    assert load(Kernel("loops.matmul_loops")) is None
    assert load(Kernel("loops.another")) is None
    assert load(Kernel("jit.matmul_ikj")) is None
    assert load(Kernel("simd.gemm.gemm")) is None
    assert load(Kernel(".matmul")) is None


def test_a_file_that_another_course_folder_would_supply_is_absent_all_the_same(
    package, monkeypatch
):
    """An editable install answers for every file of the package that its folder has."""

    class Editable:
        @staticmethod
        def find_spec(name, path=None, target=None):
            raise AssertionError(f"asked for {name}")

    package(loops="def matmul_loops(a, b): return 1")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Editable])
    assert load(Kernel("vectorized.matmul_baseline")) is None


def test_a_file_that_cannot_be_imported_is_not_taken_for_absent(package):
    package(jit="import a_library_that_is_missing", blocking="def (")
    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_missing"):
        load(Kernel("jit.matmul_ikj"))
    with pytest.raises(SyntaxError):
        load(Kernel("blocking.blocked_matmul"))


def test_names_are_those_of_the_contracts_once_each():
    for workload in WORKLOADS.values():
        names = [kernel.name for kernel in workload.kernels]
        assert len(set(names)) == len(names)
    assert Kernel("simd.gemm.gemm").module == "tinykernels.simd.gemm"
    assert Kernel(".matmul").module == "tinykernels"


def test_what_a_kernel_takes_packed_is_packed_before():
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    kernel = next(k for k in WORKLOADS["gemm"].kernels if k.packed)
    pytest.importorskip("numba")
    first, last = arguments(kernel, (a, b))
    assert first is a and type(last).__name__ == "PackedMatrix" and last.shape == (3, 4)
    assert arguments(Kernel("simd.gemm.gemm"), (a, b)) == (a, b)
    assert kernel.name == "gemm prepacked" and load(kernel) is load(Kernel("simd.gemm.gemm"))

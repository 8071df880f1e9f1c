"""The SIMD product keeps its contract on AVX-512, AVX2 and plain CPUs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from tinykernels.jit import kernel
from tinykernels.simd import blocked, vec
from tinykernels.simd import gemm as simd
from tinykernels.simd.microkernel import axpy_vec, compile_source, ukernel, ukernel_source
from tinykernels.simd.packing import aligned_empty, flat_rows, pack_a, pack_b

from . import simd_battery

HERE = Path(__file__).resolve().parent
AVX2 = "+sse2,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+fma"
# The width is that of AVX-512; LLVM takes it back, and two registers of AVX2 for a vector.
WIDE = f"{AVX2},+avx512f,-avx512f"


@pytest.mark.parametrize(
    "part",
    ["check_shapes", "check_layouts", "check_lines", "check_special_values", "check_float64"],
)
def test_on_this_cpu(part):
    getattr(simd_battery, part)()


# LLVM decides what a CPU's vectors are compiled to, and is one for all Pythons.
@pytest.mark.newest
@pytest.mark.parametrize(
    ("features", "floats"),
    [
        pytest.param(WIDE, 16, id="avx512's width"),
        pytest.param(AVX2, 8, id="avx2"),
        pytest.param("", 4, id="generic"),
    ],
)
def test_on_a_lesser_cpu(features, floats):
    if features and not {"avx2", "fma"} <= vec.cpu_features():
        pytest.skip("this CPU has no AVX2")
    path = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features}
    done = subprocess.run(
        [sys.executable, "-m", "tests.tinykernels.simd_battery"],
        env={**env, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        cwd=HERE.parents[1],
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) == floats


@pytest.mark.parametrize(
    ("features", "unit"),
    [
        ({"avx512f", "avx2", "fma"}, (16, 32)),
        ({"avx2", "fma"}, (8, 16)),
        ({"avx2"}, (4, 16)),
        ({"neon"}, (4, 32)),
        (set(), (4, 16)),
    ],
)
def test_vector_unit_of_a_cpu(features, unit):
    assert vec.vector_unit(features) == unit


def test_every_tile_fits_into_the_registers():
    for rows in range(1, 40):
        for tile_for in (simd.tile_for, simd.packed_tile):
            mr, nv = tile_for(rows)
            assert mr <= rows and mr * nv + nv + 1 <= vec.REGISTERS and nv >= 1
            assert nv <= simd.WIDEST


@pytest.mark.parametrize(
    ("a", "b", "out", "error", "words"),
    [
        (np.ones((2, 3), np.int32), np.ones((3, 2), np.int32), None, TypeError, "astype"),
        ([[1.0]], np.ones((1, 1)), None, TypeError, "a "),
        (np.ones((2, 3), "f4"), np.ones((3, 2)), None, TypeError, "float"),
        (np.ones((2, 3), "f4"), np.ones((2, 3), "f4"), None, ValueError, "inner sizes"),
        (np.ones(3, "f4"), np.ones((3, 2), "f4"), None, ValueError, "a"),
        (np.ones((2, 3), ">f4"), np.ones((3, 2), ">f4"), None, TypeError, "a"),
        (np.ones((2, 3), "f4"), np.ones((3, 2), "f4"), np.ones((2, 3), "f4"), ValueError, "out"),
        (np.ones((2, 3), "f4"), np.ones((3, 2), "f4"), np.ones((2, 2)), ValueError, "out"),
    ],
)
def test_what_is_refused(a, b, out, error, words):
    with pytest.raises(error, match=words):
        simd.gemm(a, b, out)


def test_out_may_not_be_an_input():
    a = np.ones((3, 3), np.float32)
    for packed in (a, simd.PackedMatrix(a)):
        with pytest.raises(ValueError, match="shares memory"):
            simd.gemm(a, packed, a)


def test_a_packed_matrix_is_a_copy():
    b = np.ones((4, 3), np.float32)
    packed = simd.PackedMatrix(b)
    b[...] = 9
    assert np.array_equal(simd.gemm(np.ones((1, 4), np.float32), packed), [[4, 4, 4]])
    with pytest.raises(TypeError):
        simd.PackedMatrix(b.astype(np.float64))


def test_panels_begin_at_a_cache_line():
    for size in (1, 5, 16, 1000):
        assert aligned_empty((size, 2)).ctypes.data % 64 == 0
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    want = [[[0, 4], [1, 5], [2, 6], [3, 7]], [[8, 0], [9, 0], [10, 0], [11, 0]]]
    assert np.array_equal(pack_a(x, 2), want)
    assert np.array_equal(pack_b(x.T, 2), want)


def test_memory_of_panels_is_used_again_when_nobody_sees_it_any_more():
    first = aligned_empty((30, 10))
    address, part = first.ctypes.data, first[2:]
    others = [aligned_empty((30, 10))]
    del first
    others.append(aligned_empty((30, 10)))
    assert all(other.ctypes.data != address for other in others), "a part is still in use"
    del part
    assert aligned_empty((30, 10)).ctypes.data == address


@pytest.mark.parametrize("plain", [True, False])
def test_panels_of_columns_by_vectors(plain):
    pairs = ((8, 3 * vec.VL), (8, 2 * vec.VL + 3), (6, 2 * vec.VL + 1), (5, vec.VL))
    for width, k in (*pairs, (4, 4 * vec.VL + 5), (16, 2 * vec.VL + 5), (16, 3), (4, vec.VL)):
        x = np.arange(2.0 * width * (k + 2), dtype=np.float32).reshape(2 * width, k + 2)[:, :k]
        want = x.reshape(2, width, k).transpose(0, 2, 1)
        assert np.array_equal(pack_a(x, width, plain=plain), want), (width, k)


def test_flat_rows_of_what_a_blas_could_take():
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for view in (x, x[1:3, 2:], x[::2, :3], x[:, :1]):
        memory, ld = flat_rows(view)
        i, j = np.indices(view.shape)
        assert np.array_equal(memory[i * ld + j], view)
    for view in (x.T, x[::-1], x[:, ::2], np.broadcast_to(x[:1], (4, 5))):
        assert flat_rows(view) is None


def test_a_kernels_text_reaches_nothing_but_the_vector_calls():
    for line in ("vzero.py_func", "import os", "vzero().__class__", "c @ c", "c @= c", "sum(c)"):
        with pytest.raises(ValueError, match="text"):
            compile_source(f"def ukernel(c):\n    {line}", "ukernel")
    assert "vfma" in ukernel_source(1, 1)


def test_a_text_that_is_none_is_shown_with_what_is_wrong():
    with pytest.raises(TypeError, match=r"not a list: return '\\n'.join"):
        compile_source(["def ukernel():", "    pass"], "ukernel")
    with pytest.raises(ValueError, match=r"(?s)line 2 of the text.*def ukernel\(c\):\n  vzero\("):
        compile_source("def ukernel(c):\n  vzero(\n", "ukernel")
    with pytest.raises(ValueError, match="not VL: write its value"):
        compile_source("def ukernel(c):\n    vload(c, VL)", "ukernel")
    with pytest.raises(ValueError, match="defines no function ukernel"):
        compile_source("def kernel(c):\n    vload(c, 0)", "ukernel")


def fma_of_a_number(x, factor):
    vec.vstore(x, 0, vec.vfma(factor, vec.vload(x, 0), vec.vzero()))


def store_of_a_number(x, factor):
    vec.vstore(x, 0, factor)


@pytest.mark.parametrize("wrong", [fma_of_a_number, store_of_a_number])
@pytest.mark.parametrize("way", [lambda f: f, kernel])
def test_a_number_is_no_vector(wrong, way):
    message = r"vadd, vfma and vstore take vectors: vsplat\(f\) makes one"
    with pytest.raises(TypeError, match=message):
        way(wrong)(np.ones(vec.VL, np.float32), np.float32(2))


def test_what_a_kernel_calls_can_be_noted():
    loads = []
    noted = vec.in_python(ukernel, vload=lambda x, i: loads.append(i) or vec.vzero())
    pa, pb, c = (np.zeros(n, np.float32) for n in (3, 3 * vec.VL, vec.VL))
    noted(1, 1)(pa, pb, vec.VL, 3, c, 0, vec.VL)
    assert loads == [0, vec.VL, 2 * vec.VL, 0]


def test_what_takes_the_place_of_a_name_takes_that_of_its_aliases():
    space = {"kernel": kernel, "vstore": vec.vstore, "vzero": vec.vzero, "store": vec.vstore}
    exec("@kernel\ndef clear(x):\n    store(x, 0, vzero())\n    vstore(x, 0, vzero())", space)
    stored, x = [], np.ones(vec.VL, np.float32)
    vec.in_python(space["clear"], vstore=lambda x, i, v: stored.append(i))(x)
    assert stored == [0, 0] and x.all()


def test_a_kernel_in_plain_python_gives_the_same_and_looks_at_every_index():
    a = np.arange(35, dtype=np.float32).reshape(5, 7)
    b = np.arange(7 * 41, dtype=np.float32).reshape(7, 41) % 5
    wide = np.arange(7 * (8 * vec.VL + 5), dtype=np.float32).reshape(7, -1) % 5
    for product in (simd.gemm_blocked, simd.gemm_wide, simd.gemm_skinny, simd.gemm):
        assert np.array_equal(vec.in_python(product)(a, b), a @ b)
        assert np.array_equal(vec.in_python(product)(a, wide), a @ wide)
    x, y = np.ones(vec.VL + 1, np.float32), np.ones(vec.VL + 1, np.float32)
    axpy_vec.py_func(np.float32(2), x, y)
    assert np.array_equal(y, np.full(len(y), 3))
    with pytest.raises(IndexError, match="a vector from float 2 on, in an array of"):
        vec.vload(x, 2)
    with pytest.raises(TypeError, match="contiguous"):
        vec.vload(np.ones((3, 40), np.float32)[:, ::2], 0)


def test_one_compiled_form_does_for_all_layouts():
    wide = np.ones((4, 8 * vec.VL + 3), np.float32)
    frozen = wide.copy()
    frozen.flags.writeable = False
    for b in (wide[:3], wide[:3, 2:], frozen[:3]):
        for a in (wide[:1, :3], frozen[:3, :1].T, wide[:1, 6:0:-2]):
            got = simd.gemm_skinny(a, b, np.empty((2, b.shape[1]), np.float32)[::-1][:1])
            assert np.array_equal(got, a @ b)
    assert len(simd.skinny_kernel(*simd.tile_for(1)).signatures) == 1


SIZES = st.integers(0, 2 * simd.TILE[0] + 1)


@settings(max_examples=25)
@given(m=SIZES, k=st.integers(0, 7), n=st.integers(0, 5 * vec.VL), kc=st.integers(1, 4))
def test_blocks_of_the_smaller_matrix_and_pieces_of_the_other_add_up(m, k, n, kc):
    mr, nv = simd.TILE
    mc, nc = (2 * nv * vec.VL, nv * vec.VL) if m < n else (mr, 2 * nv * vec.VL)
    room_a = np.full(blocked.room_for(min(m, mc), mr, kc), np.nan, np.float32)
    room_b = np.full(blocked.room_for(min(n, nc), nv * vec.VL, kc), np.nan, np.float32)
    a = np.arange(m * k, dtype=np.float32).reshape(m, k) % 7 - 3
    b = np.arange(k * n, dtype=np.float32).reshape(k, n) % 5 - 2
    c = np.zeros((m, n), np.float32)
    vec.in_python(blocked.product_kernel)(mr, nv)(a, c, b, room_a, room_b, mc, kc, nc)
    assert np.array_equal(c, a @ b)


@pytest.mark.parametrize(
    ("m", "n"), [(2 * blocked.MC + 3, 5), (9, 2 * blocked.PART_OF_B + 3), (7, blocked.NC + 40)]
)
def test_many_blocks_of_each_axis(m, n):
    draw = np.random.default_rng(8)
    k = 2 * blocked.KC + 7
    a = draw.integers(-9, 10, (m, k)).astype(np.float32)
    b = draw.integers(-9, 10, (k, n)).astype(np.float32)
    want = a.astype(np.float64) @ b
    packed = simd.gemm(a, simd.PackedMatrix(b))
    assert np.array_equal(blocked.gemm_wide(a, b), want) and np.array_equal(packed, want)


def test_a_matrix_of_numpy_is_an_array_like_any_other():
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 5), np.float32)
    for product in (simd.gemm, simd.gemm_blocked, simd.gemm_wide, simd.gemm_skinny):
        got = product(np.asmatrix(a), np.asmatrix(b))
        assert type(got) is np.ndarray and np.array_equal(got, a @ b)
    assert np.array_equal(simd.gemm(a, simd.PackedMatrix(np.asmatrix(b))), a @ b)

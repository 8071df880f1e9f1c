"""Grids of 8 and 4 bits: contracts by name, bounds of the error, exact products on every CPU."""

import doctest
import inspect
import itertools
import os
import platform
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.tinykernels import quantized_battery
from tests.tinykernels.variants import INT8_MATMUL
from tinykernels import quantized
from tinykernels.simd import ints, vec

ROOT = Path(__file__).parents[2]
EVERY_PRODUCT = pytest.mark.parametrize("matmul", INT8_MATMUL.values(), ids=INT8_MATMUL.keys())
TINY = np.finfo(np.float32).tiny
HALF = 0.5001  # of a step: what is left over is the rounding of the scale
NORMAL = st.floats(-1000, 1000, width=32)
MATRICES = hnp.arrays(
    np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=NORMAL
)
BYTES = st.integers(-128, 127)


def int8(rows):
    return np.array(rows, np.int8)


def test_the_examples_of_the_docstrings_are_right():
    assert doctest.testmod(quantized).failed == 0
    assert doctest.testmod(quantized).attempted >= 10
    assert doctest.testmod(ints).failed == 0


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("quantize", "(x, axis=None)"),
        ("dequantize", "(q, scale, axis=None)"),
        ("quantize_affine", "(x)"),
        ("dequantize_affine", "(q, scale, zero)"),
        ("int8_matmul", "(a, b)"),
        ("quantized_matmul", "(A, B, scale_A=1.0, scale_B=1.0)"),
        ("quantized_relu", "(x, scale=1.0)"),
        ("pack_k4", "(b)"),
        ("gemm_int8", "(a, b, plain=False)"),
        ("pack_q4", "(w)"),
        ("unpack_q4", "(nibbles, d, m)"),
        ("interleave_q4", "(nibbles, d, m)"),
        ("matvec_q4", "(packed, x)"),
    ],
)
def test_public_names_and_parameters(name, signature):
    assert str(inspect.signature(getattr(quantized, name))) == signature


# Grids of 8 bits.


@given(MATRICES, st.sampled_from([None, 0, 1, -1]))
@settings(max_examples=60, deadline=None)
def test_no_number_moves_by_more_than_half_a_step(x, axis):
    before = x.copy()
    q, scale = quantized.quantize(x, axis)
    back = quantized.dequantize(q, scale, axis)
    assert q.dtype == np.int8 and back.dtype == np.float32 and np.abs(q.astype(int)).max() <= 127
    step = scale if axis is None else np.expand_dims(scale, 1 - axis % 2)
    assert (np.abs(back.astype(np.float64) - x) <= HALF * step.astype(np.float64)).all()
    assert np.array_equal(x, before)


@given(MATRICES)
@settings(max_examples=40, deadline=None)
def test_opposite_numbers_get_opposite_marks(x):
    q, scale = quantized.quantize(x)
    opposite, same_scale = quantized.quantize(-x)
    assert np.array_equal(opposite, -q) and scale == same_scale


@given(MATRICES)
@settings(max_examples=60, deadline=None)
def test_an_affine_grid_keeps_zero_and_moves_nothing_by_more_than_half_a_step(x):
    x = np.append(x.ravel(), np.float32(0))
    q, scale, zero = quantized.quantize_affine(x)
    back = quantized.dequantize_affine(q, scale, zero)
    assert q.dtype == np.uint8 and type(zero) is int and 0 <= zero <= 255 and back[-1] == 0
    assert (
        np.abs(back.astype(np.float64) - x) <= HALF * np.float64(scale) + 1e-6 * np.abs(x)
    ).all()


def test_scales_of_zero_constant_and_tiny_channels():
    x = np.array([[0, 0], [5, 5], [1e-42, -3e-42], [-7, 0]], np.float32)
    q, scale = quantized.quantize(x, 0)
    assert scale.dtype == np.float32 and scale[0] == 1 and scale[2] == TINY
    assert q.tolist() == [[0, 0], [127, 127], [0, 0], [-127, 0]]
    q, scale, zero = quantized.quantize_affine(np.full(3, 4.0))
    assert (q.tolist(), zero) == ([255] * 3, 0) and scale == np.float32(4 / 255)
    assert quantized.quantize_affine(np.zeros(2))[1:] == (1, 0)


def test_ties_go_to_the_even_number_and_minus_128_never_comes_out():
    x = np.array([-127, 0.5, 1.5, 2.5, -0.5, -1.5, 126.5])
    assert quantized.quantize(x)[0].tolist() == [-127, 0, 2, 2, 0, -2, 126]
    every = np.linspace(-300, 300, 1201).astype(np.float32)
    q = quantized.round_to_int8(every, np.float32(1))
    assert q.min() == -127 and q.max() == 127
    assert quantized.dequantize(int8([-128]), 2.0).tolist() == [-256]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e39])
@pytest.mark.parametrize("name", ["quantize", "quantize_affine", "quantized_relu", "pack_q4"])
def test_what_is_not_finite_is_refused(name, wrong):
    x = np.zeros((1, 32))
    x[0, 7] = wrong
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="NaN"):
            getattr(quantized, name)(x)


@pytest.mark.parametrize("name", ["quantize", "quantize_affine", "quantized_relu"])
@pytest.mark.parametrize("wrong", [[1.0], np.arange(3), np.ones(2, ">f4"), np.ones(2, np.float16)])
def test_what_is_no_array_of_floats_is_refused(name, wrong):
    with pytest.raises(TypeError, match="astype"):
        getattr(quantized, name)(wrong)


# Seeds: scale 1.0 on floats rounds to whole numbers and clips.


def test_scale_one_rounds_and_clips():
    x = np.array([[-200.0, -0.5, 0.4], [0.6, 126.5, 300.0]])
    assert quantized.quantized_relu(x).tolist() == [[0, 0, 0], [1, 126, 127]]
    got = quantized.quantized_matmul(x, np.eye(3))
    assert got.dtype == np.float32 and got.tolist() == [[-127, 0, 0], [1, 126, 127]]
    assert (
        quantized.quantized_matmul(A=x, B=np.eye(3), scale_A=1.0, scale_B=1.0).tolist()
        == got.tolist()
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_the_error_of_a_quantized_product_stays_in_its_bound(seed):
    draw = np.random.default_rng(seed)
    a, b = draw.standard_normal((3, 8)), draw.standard_normal((8, 2))
    (_, of_a), (_, of_b) = quantized.quantize(a), quantized.quantize(b, 1)
    got = quantized.quantized_matmul(a, b, of_a, of_b)
    # (a + e)(b + f) - a b, with |e| <= of_a / 2 and |f| <= of_b / 2.
    bound = np.abs(a) @ np.ones((8, 2)) * of_b / 2 + of_a / 2 * np.abs(b).sum(0)
    assert (np.abs(got - a @ b) <= 1.001 * (bound + 8 * of_a * of_b / 4)).all()


# Products of bytes: accumulators that are wide enough, in every variant alike.


@EVERY_PRODUCT
@pytest.mark.parametrize(
    ("left", "right", "want"),
    [
        pytest.param([[13, 6]], [[10], [-2]], 118, id="within a byte"),
        pytest.param([[9, 11]], [[15], [7]], 212, id="two products leave int8"),
        pytest.param([[-128] * 2], [[-128]] * 2, 2**15, id="two products leave int16"),
        pytest.param([[-128] * 4], [[127]] * 4, -65024, id="a lane of vpdpbusd"),
        pytest.param([[127] * 1090], [[127]] * 1089 + [[4]], 17_564_989, id="beyond 2**24, odd"),
        pytest.param([[-128] * 5000], [[-128]] * 5000, 5000 * 2**14, id="81,920,000"),
    ],
)
def test_sums_that_a_narrower_accumulator_would_lose(matmul, left, right, want):
    got = matmul(int8(left), int8(right))
    assert got.dtype == np.int32 and got.tolist() == [[want]]


@EVERY_PRODUCT
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_products_equal_those_in_int64(matmul, data):
    m, k, n = (data.draw(st.integers(0, most)) for most in (4, 9, 40))
    a = data.draw(hnp.arrays(np.int8, (m, k), elements=BYTES))
    b = data.draw(hnp.arrays(np.int8, (k, n), elements=BYTES))
    before = a.copy(), b.copy()
    got = matmul(a[::-1], np.asfortranarray(b))
    assert got.dtype == np.int32 and got.shape == (m, n)
    assert np.array_equal(got, quantized_battery.exact(a[::-1], b))
    assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


@EVERY_PRODUCT
def test_the_longest_sum_and_one_more(matmul):
    a = np.full((1, 131_071), -128, np.int8)
    assert matmul(a, a.T).tolist() == [[131_071 * 2**14]]
    a = np.zeros((1, 131_072), np.int8)
    with pytest.raises(ValueError, match="131072 products"):
        matmul(a, a.T)


@EVERY_PRODUCT
@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.float32, np.bool_])
def test_other_dtypes_are_refused(matmul, dtype):
    with pytest.raises(TypeError, match="int8"):
        matmul(np.ones((2, 2), dtype), int8([[1, 2], [3, 4]]))


@EVERY_PRODUCT
def test_sizes_that_do_not_fit_are_refused(matmul):
    with pytest.raises(ValueError, match="3 columns"):
        matmul(int8([[1, 2, 3]]), int8([[1, 2, 3]]))
    with pytest.raises(ValueError, match="axes"):
        matmul(int8([1, 2]), int8([[1], [2]]))


# 4 bits.


@given(hnp.arrays(np.float32, (2, 64), elements=st.floats(-1000, 1000, width=32)))
@settings(max_examples=40, deadline=None)
def test_a_weight_of_four_bits_moves_by_half_a_step_and_what_rounding_its_grid_costs(w):
    nibbles, d, m = quantized.pack_q4(w)
    assert (nibbles.dtype, d.dtype, m.dtype) == (np.uint8, np.float16, np.float16)
    back = quantized.unpack_q4(nibbles, d, m).astype(np.float64).reshape(2, 2, 32)
    blocks = w.astype(np.float64).reshape(2, 2, 32)
    d, m = d.astype(np.float64), m.astype(np.float64)
    lost = 15 * np.abs(np.ptp(blocks, axis=2) / 15 - d) + np.abs(blocks.min(2) - m)
    assert (np.abs(back - blocks).max(2) <= d / 2 + lost + 1e-6 * np.abs(blocks).max(2)).all()


def test_the_bytes_are_those_of_the_file_format():
    q = np.r_[np.arange(15, -1, -1), np.arange(16)]
    nibbles, d, m = quantized.pack_q4((0.25 * q - 2).astype(np.float32)[None])
    assert nibbles.tobytes().hex() == "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    assert (d.tobytes().hex(), m.tobytes().hex()) == ("0034", "00c0")
    assert np.array_equal(quantized.unpack_q4(nibbles, d, m)[0], 0.25 * q - 2)


def test_blocks_without_a_step_and_numbers_beyond_float16():
    nibbles, d, m = quantized.pack_q4(np.full((1, 32), 0.1))
    assert not nibbles.any() and d[0, 0] == 0 and m[0, 0] == np.float16(0.1)
    with pytest.raises(ValueError, match="65504"):
        quantized.pack_q4(np.full((1, 32), 65505.0))
    with pytest.raises(ValueError, match="multiple of 32"):
        quantized.pack_q4(np.ones((1, 31)))


def test_the_matvec_refuses_what_does_not_fit():
    packed = quantized.interleave_q4(*quantized.pack_q4(np.ones((2, 64))))
    with pytest.raises(ValueError, match="64 columns"):
        quantized.matvec_q4(packed, np.ones(32))
    with pytest.raises(TypeError, match="astype"):
        quantized.matvec_q4(packed, np.ones(64, int))
    with pytest.raises(TypeError, match="uint8"):
        quantized.interleave_q4(np.zeros((1, 1, 16), np.int8), *np.zeros((2, 1, 1), np.float16))


@pytest.mark.parametrize("name", ["rows", "interleaved", "bytes"])
def test_no_kernel_reads_beyond_what_it_is_given(name):
    q4 = quantized.pack_q4(np.ones((3, 64)))
    call = {
        "rows": lambda x: quantized.matvec_q4_rows(*q4, x),
        "interleaved": lambda x: quantized.matvec_q4(quantized.interleave_q4(*q4), x),
        "bytes": lambda x: quantized.matvec_q4_bytes(quantized.group_q4(*q4), x),
    }[name]
    assert np.allclose(call(np.ones(128)[::2]), 64, rtol=1e-6)
    for wrong in (np.ones(32), np.ones(96), np.ones(63)):
        with pytest.raises(ValueError, match="64 columns"):
            call(wrong)


@pytest.mark.parametrize("multiply", [quantized.multiply_bytes, quantized.multiply_plain])
def test_lanes_that_do_not_fit_are_refused_before_anything_is_compiled(multiply):
    packed, start = quantized.pack_k4(np.ones((8, 3), np.int8)), np.zeros(3, np.int32)
    for lanes in (np.zeros((2, 8), np.int32), np.zeros((2, 1), np.int32), np.zeros(2, np.int32)):
        with pytest.raises(ValueError, match="needed"):
            multiply(lanes, packed, start)
    with pytest.raises(TypeError, match="int32"):
        multiply(np.zeros((2, 2), np.uint8), packed, start)
    with pytest.raises(ValueError, match="start"):
        multiply(np.zeros((2, 2), np.int32), packed, np.int32(0))


# Instruction sets.


@pytest.mark.parametrize(
    ("features", "lanes", "form"),
    [
        ({"avx512f", "avx512vnni", "avx512bw"}, 16, "vnni"),
        ({"avx512f", "avx512bw"}, 16, "pairs"),
        ({"avx512f"}, 16, "plain"),
        ({"avx2", "fma", "avxvnni"}, 8, "vnni"),
        ({"avx2", "fma"}, 8, "pairs"),
        ({"avx512vnni"}, 4, "plain"),
        ({"neon"}, 4, "plain"),
    ],
)
def test_an_instruction_is_used_only_where_the_cpu_has_it(features, lanes, form):
    assert ints.dot_form(features, lanes) == form


@pytest.mark.parametrize("part", ["check_products", "check_vectors"])
def test_on_this_cpu(part):
    getattr(quantized_battery, part)()


AVX2 = "+sse2,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+fma"
AVX512 = f"{AVX2},+avx512f,+avx512bw,+avx512vl,+avx512dq"
# The width is that of AVX-512; LLVM takes it back, and two registers of AVX2 for a vector.
WIDE = f"{AVX2},+avx512f,-avx512f"
STEP = """
from numba import njit
from tinykernels.simd import ints

@njit("void(int32[::1], int32[::1])")
def step(x, y):
    ints.istore(y, 0, ints.vdp4(ints.iload(x, 0), ints.iload(x, 1), ints.iload(y, 0)))

print(ints.DOT, *step.inspect_asm().values())
"""


def in_process_with(features, *command):
    """What the command prints in a Python whose Numba compiles for a CPU with these features."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    lesser = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **lesser},
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


# LLVM decides what a CPU's vectors are compiled to, and is one for all Pythons.
@pytest.mark.newest
@pytest.mark.parametrize(
    ("features", "needs", "form"),
    [
        pytest.param("", set(), "plain 4", id="generic"),
        pytest.param(AVX2, {"avx2", "fma"}, "pairs 8", id="avx2"),
        pytest.param(WIDE, {"avx2", "fma"}, "plain 16", id="avx512's width"),
        pytest.param(AVX512, {"avx512bw"}, "pairs 16", id="avx512 without vnni"),
    ],
)
def test_on_a_lesser_cpu(features, needs, form):
    if not needs <= vec.cpu_features():
        pytest.skip(f"this CPU has no {needs}")
    printed = in_process_with(features, "-m", "tests.tinykernels.quantized_battery")
    assert printed.strip() == form


# Compiled, not run: so a CPU that has none of them can look as well.
@pytest.mark.newest
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="instructions of x86")
@pytest.mark.parametrize(
    ("features", "form", "instruction"),
    [
        pytest.param(AVX2, "pairs", r"vpmaddwd\s.*%ymm", id="avx2"),
        pytest.param(f"{AVX2},+avxvnni", "vnni", r"vpdpbusd\s.*%ymm", id="avx-vnni"),
        pytest.param(AVX512, "pairs", r"vpmaddwd\s.*%zmm", id="avx512"),
        pytest.param(f"{AVX512},+avx512vnni", "vnni", r"vpdpbusd\s.*%zmm", id="avx512-vnni"),
    ],
)
def test_a_form_is_the_instruction_that_it_is_named_for(features, form, instruction):
    found, _, assembly = in_process_with(features, "-c", STEP).partition(" ")
    assert found == form
    assert re.search(instruction, assembly)


def test_a_lane_adds_up_the_extremes():
    """All pairs of extreme bytes, in every place of a lane, by the compiled kernel."""
    edge = [-128, -127, -1, 0, 1, 127]
    a = int8(list(itertools.product(edge, repeat=2)))[:4]
    b = int8(list(itertools.product(edge, repeat=2))).T.copy()
    for k in range(4):
        left, right = np.zeros((4, 6), np.int8), np.zeros((6, 36), np.int8)
        left[:, k : k + 2], right[k : k + 2] = a, b
        want = quantized_battery.exact(left, right)
        assert np.array_equal(quantized.gemm_int8(left, right), want)

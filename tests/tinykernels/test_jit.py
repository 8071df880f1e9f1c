"""The compiled kernels: contracts by name, signatures, accuracy, and the laws they keep."""

import doctest
import inspect
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.tinykernels.test_layouts import PLAIN, TAKEN
from tinykernels import jit, loops

ROOT = Path(__file__).parents[2]
PRODUCTS = (jit.matmul_ijk, jit.matmul_ikj, jit.matmul_registers, jit.matmul_prange)
EVERY_PRODUCT = pytest.mark.parametrize("matmul", PRODUCTS, ids=lambda f: f.__name__)
DTYPES = (np.float32, np.float64)
SMALL = st.integers(-8, 8).map(float)
X = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -1.0]])
ONES, ZEROS = np.ones(3), np.zeros(3)


def with_out():
    """(name, function of `out`, shape of the result) of each kernel that takes one."""
    b = np.arange(12.0).reshape(3, 4)
    for matmul in PRODUCTS:
        yield matmul.__name__, lambda out, f=matmul: f(a=X, b=b, out=out), (2, 4)
    yield "relu", lambda out: jit.relu_fused(x=X, out=out), (2, 3)
    yield "softmax", lambda out: jit.softmax_fused(x=X, out=out), (2, 3)
    yield (
        "layernorm",
        lambda out: jit.layernorm_fused(x=X, gamma=ONES, beta=ZEROS, eps=1e-5, out=out),
        (2, 3),
    )


OUT = [pytest.param(*rest, id=name) for name, *rest in with_out()]


def test_the_examples_of_the_docstrings_are_right():
    found = doctest.testmod(jit)
    assert found.failed == 0
    assert found.attempted >= 8


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("relu_fused", "(x, out=None)"),
        ("matmul_ijk", "(a, b, out=None)"),
        ("matmul_ikj", "(a, b, out=None)"),
        ("matmul_registers", "(a, b, out=None)"),
        ("matmul_prange", "(a, b, out=None)"),
        ("column_sums_prange", "(x)"),
        ("softmax_prange", "(x, out=None)"),
        ("layernorm_prange", "(x, gamma, beta, eps=1e-05, out=None)"),
        ("exp_fused", "(x, out=None)"),
        ("softmax_fused", "(x, out=None)"),
        ("layernorm_fused", "(x, gamma, beta, eps=1e-05, out=None)"),
    ],
)
def test_a_public_name_and_its_signature(name, signature):
    function = getattr(jit, name)
    assert str(inspect.signature(function)) == signature
    assert name in jit.__all__
    assert function.__doc__


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("matmul_ijk_kernel", "a b c"),
        ("matmul_ikj_kernel", "a b c"),
        ("axpy_range", "y x alpha start stop"),
        ("tile_1x1", "a b c i p0 p1 j0 j1"),
        ("tile_4x4", "a b c i p0 p1 j0 j1"),
        ("exp_poly", "x"),
        ("row_maximum", "row lanes"),
        ("softmax_kernel", "x y"),
        ("layernorm_kernel", "x gamma beta eps y"),
        ("matmul_prange_kernel", "a b c"),
        ("column_sums_kernel", "x parts"),
    ],
)
def test_an_inner_kernel_runs_as_plain_python_too(name, parameters):
    function = getattr(jit, name)
    assert list(inspect.signature(function.py_func).parameters) == parameters.split()


def test_modules_that_need_no_compiler_do_not_load_it():
    program = (
        "import sys; import tinykernels.loops, tinykernels.vectorized;"
        "assert 'numba' not in sys.modules; import tinykernels.jit; assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=120)


@pytest.mark.parametrize(("kernel", "shape"), OUT)
def test_out_is_filled_and_returned(kernel, shape):
    want = kernel(None)
    out = np.full(shape, 7.0)
    assert kernel(out) is out
    assert np.array_equal(out, want)
    wide = np.full((2 * shape[0], 3 * shape[1]), 7.0)
    view = wide[::-2, ::3]
    assert kernel(view) is view
    assert np.allclose(view, want, rtol=1e-14, atol=0)
    assert np.count_nonzero(wide == 7.0) == wide.size - want.size


@pytest.mark.parametrize(("kernel", "shape"), OUT)
def test_an_out_that_does_not_fit_is_refused(kernel, shape):
    frozen = np.full(shape, 7.0)
    frozen.setflags(write=False)
    for out in (np.full((3, *shape), 7.0), np.full(shape, 7.0, np.float32), frozen):
        with pytest.raises(ValueError, match="out is"):
            kernel(out)
        assert np.all(out == 7.0)


@pytest.mark.parametrize("place", range(3))
def test_an_out_that_shares_memory_with_any_input_is_refused(place):
    shared = np.arange(12.0).reshape(4, 3)
    inputs = [np.ones((2, 3)), np.ones(3), np.zeros(3)]
    inputs[place] = shared[1:3] if place == 0 else shared[1]
    with pytest.raises(ValueError, match="shares memory"):
        jit.layernorm_fused(*inputs, out=shared[:2])


@EVERY_PRODUCT
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_product_of_whole_numbers_is_exact(matmul, data):
    m, k, n = (data.draw(st.integers(0, 9)) for _ in range(3))
    dtype = data.draw(st.sampled_from(DTYPES))
    a = data.draw(hnp.arrays(dtype, (m, k), elements=SMALL))
    b = data.draw(hnp.arrays(dtype, (k, n), elements=SMALL))
    result = matmul(a, b)
    assert result.dtype == dtype
    assert np.array_equal(result, loops.matmul_loops(a, b))


@pytest.mark.parametrize("n", [511, 512, 513, 1030])
def test_panels_end_where_the_matrix_does(n):
    draw = np.random.default_rng(n)
    a, b = draw.integers(-4, 4, (6, 9)).astype(float), draw.integers(-4, 4, (9, n)).astype(float)
    assert np.array_equal(jit.matmul_registers(a, b), a @ b)


@EVERY_PRODUCT
def test_nan_and_infinity_follow_the_arithmetic(matmul):
    a = np.array([[np.nan, 1], [np.inf, 0], [1, 2]], np.float32)
    b = np.array([[1, 0], [0, 1]], np.float32)
    want = np.array([[np.nan, np.nan], [np.inf, np.nan], [1, 2]])
    assert np.array_equal(matmul(a, b), want, equal_nan=True)


def test_layouts_compile_no_further_signature():
    for layout in TAKEN.values():
        x = layout(PLAIN)
        jit.matmul_ikj(x, layout(PLAIN.T))
        jit.softmax_fused(x)
        jit.layernorm_fused(x, np.ones(6, np.float32), np.zeros(6, np.float32))
        jit.relu_fused(x)
    assert len(jit.matmul_ikj_kernel.signatures) <= len(DTYPES)
    assert len(jit.softmax_kernel.signatures) == 1
    assert len(jit.layernorm_kernel.signatures) <= len(DTYPES)
    assert len(jit.relu_kernel.signatures) <= len(DTYPES)


def test_exp_is_accurate_over_its_range():
    x = np.linspace(-87.3, 88.3, 400_001, dtype=np.float32)
    error = np.abs(jit.exp_fused(x) / np.exp(x.astype(float)) - 1)
    assert error.max() < 3e-7


def test_exp_at_its_edges():
    x = np.array([-np.inf, -1e30, -87.7, 88.4, 1e30, np.inf, np.nan, 0.0, -0.0], np.float32)
    want = np.array([0, 0, 0, np.inf, np.inf, np.inf, np.nan, 1, 1], np.float32)
    assert np.array_equal(jit.exp_fused(x), want, equal_nan=True)
    between = jit.exp_fused(np.linspace(-87.7, -87.3, 1001, dtype=np.float32))
    assert np.all((between >= 0) & (between <= 2e-38))


def test_exp_takes_float32_alone():
    with pytest.raises(TypeError, match="astype"):
        jit.exp_fused(np.zeros(3))


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_the_maximum_is_found_wherever_it_stands(n):
    lanes = np.zeros(64, np.float32)
    row = np.full(n, -5, np.float32)
    assert jit.row_maximum(row, lanes) == (-5 if n else -math.inf)
    for place in range(n):
        row[place] = -1
        assert jit.row_maximum(row, lanes) == -1
        row[place] = -5


@pytest.mark.parametrize("n", [15, 63, 64, 65, 130])
def test_the_rule_holds_beyond_the_lanes(n):
    rows = np.full((5, n), -1, np.float32)
    rows[0, n - 1], rows[1, n // 2], rows[2] = np.nan, np.inf, -np.inf
    rows[3, : n - 1] = -np.inf
    y = jit.softmax_fused(rows)
    assert np.isnan(y[:2]).all()
    assert not y[2].any() and y[3, n - 1] == 1 and not y[3, : n - 1].any()
    assert np.allclose(y[4], 1 / n, rtol=1e-6)


@given(hnp.arrays(np.float32, (3, 70), elements=SMALL), st.integers(-100, 100))
@settings(max_examples=25, deadline=None)
def test_softmax_does_not_see_a_shift(x, shift):
    assert np.array_equal(jit.softmax_fused(x), jit.softmax_fused(x + np.float32(shift)))


def test_softmax_and_layernorm_take_more_axes():
    x = (np.arange(24).reshape(2, 3, 4) ** 2 % 11).astype(np.float32)
    gamma, beta = np.array([1, 2, -1, 0.5], np.float32), np.array([0, 1, 0, -2], np.float32)
    rows = x.reshape(6, 4)
    assert np.array_equal(jit.softmax_fused(x).reshape(6, 4), jit.softmax_fused(rows))
    normed = jit.layernorm_fused(x, gamma, beta).reshape(6, 4)
    assert np.array_equal(normed, jit.layernorm_fused(rows, gamma, beta))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (1, 5), (5,), (31, 7), (32, 64), (9, 11, 3)])
def test_bands_of_rows_change_no_number(shape):
    """More bands than rows, rows that no band count divides, no rows at all."""
    x = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
    if x.size:
        x[..., -1].flat[0] = np.nan
        x[..., 0].flat[-1] = -np.inf
    gamma, beta = np.linspace(-1, 2, shape[-1], dtype=np.float32), np.ones(shape[-1], np.float32)
    assert np.array_equal(jit.softmax_prange(x), jit.softmax_fused(x), equal_nan=True)
    fused, shared = (f(x, gamma, beta) for f in (jit.layernorm_fused, jit.layernorm_prange))
    assert np.array_equal(shared, fused, equal_nan=True)
    out = np.empty(shape, np.float32)
    assert jit.softmax_prange(x, out=out) is out
    assert np.array_equal(
        jit.softmax_prange(x.astype(float)), jit.softmax_fused(x.astype(float)), equal_nan=True
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (1, 5), (31, 2), (1000, 3)])
def test_column_sums_of_whole_numbers_are_exact(shape, dtype):
    x = np.random.default_rng(shape[0]).integers(-9, 9, shape).astype(dtype)
    sums = jit.column_sums_prange(x)
    assert sums.dtype == dtype
    assert np.array_equal(sums, x.sum(axis=0))


def test_no_update_is_lost_in_a_tall_matrix():
    x = np.ones((200_003, 2), np.float32)
    for _ in range(5):
        assert np.array_equal(jit.column_sums_prange(x), [200_003] * 2)


@pytest.mark.parametrize(
    "kernel",
    [jit.relu_fused, jit.softmax_fused, jit.softmax_prange],
    ids=("relu_fused", "softmax_fused", "softmax_prange"),
)
def test_what_has_no_axis_or_no_float_is_refused(kernel):
    with pytest.raises(ValueError, match="1 or more"):
        kernel(np.array(2.0))
    for bad in ([1.0], np.arange(3), np.ones(2, np.float16), np.ones(2).astype(">f8")):
        with pytest.raises(TypeError, match="astype"):
            kernel(bad)


FROM_SEVERAL_THREADS = """
import threading

import numba
import numpy as np

from tinykernels import jit

x = np.arange(6000.0, dtype=np.float32).reshape(60, 100)
square = x[:50, :50]
calls = [
    lambda: jit.matmul_prange(square, square),
    lambda: jit.column_sums_prange(x),
    lambda: jit.softmax_prange(x),
    lambda: jit.layernorm_prange(x, x[0], x[1]),
]
wanted = [call() for call in calls]
assert numba.threading_layer() == "workqueue"


def many_times():
    for _ in range(100):
        for call, want in zip(calls, wanted):
            agree.append(np.array_equal(call(), want))


agree = []
threads = [threading.Thread(target=many_times) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(agree), all(agree))
"""


def test_parallel_kernels_may_be_called_from_several_threads():
    """Numba's own threads end Python (by SIGABRT) at a second launch before the first is done."""
    done = subprocess.run(
        [sys.executable, "-c", FROM_SEVERAL_THREADS],
        env={**os.environ, "NUMBA_THREADING_LAYER": "workqueue"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "1600 True\n"), done.stderr

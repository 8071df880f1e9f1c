"""The exported NumPy kernels: contracts by name, `out=`, memory, and the laws they keep."""

import doctest
import inspect
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinykernels import loops, vectorized

DTYPES = (np.float32, np.float64)
SMALL = st.integers(-8, 8)
X = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -1.0]])


def matrices(rows, columns):
    """Matrices of small whole numbers, whose sums and products are exact."""
    return hnp.arrays(np.float64, (rows, columns), elements=SMALL.map(float))


def with_out():
    """(name, function of `out`, shape of the result, inputs) of each kernel that takes one."""
    ones, zeros, b = np.ones(3), np.zeros(3), np.arange(12.0).reshape(3, 4)
    yield "relu", lambda out: vectorized.vectorized_relu(x=X, out=out), (2, 3), (X,)
    yield "softmax", lambda out: vectorized.softmax(x=X, axis=0, out=out), (2, 3), (X,)
    yield (
        "layernorm",
        lambda out: vectorized.layernorm(x=X, gamma=ones, beta=zeros, eps=1e-5, out=out),
        (2, 3),
        (X, ones, zeros),
    )
    yield "matmul_baseline", lambda o: vectorized.matmul_baseline(a=X, b=b, out=o), (2, 4), (X, b)
    yield (
        "vectorized_matmul",
        lambda out: vectorized.vectorized_matmul(a=X, b=b, out=out),
        (2, 4),
        (X, b),
    )


OUT = [pytest.param(*rest, id=name) for name, *rest in with_out()]


def test_the_examples_of_the_docstrings_are_right():
    assert doctest.testmod(vectorized).failed == 0
    assert doctest.testmod(vectorized).attempted >= 9


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("vectorized_relu", "(x, out=None)"),
        ("vectorized_operations", "(x, y)"),
        ("matmul_baseline", "(a, b, out=None)"),
        ("optimized_matmul", "(a, b, out=None)"),
        ("vectorized_matmul", "(a, b, out=None)"),
        ("softmax", "(x, axis=-1, out=None)"),
        ("layernorm", "(x, gamma, beta, eps=1e-05, out=None)"),
        ("im2col", "(x, r, s, padding=0)"),
        ("conv2d_im2col", "(x, w, padding=0)"),
    ],
)
def test_a_public_name_and_its_signature(name, signature):
    function = getattr(vectorized, name)
    assert str(inspect.signature(function)) == signature
    assert name in vectorized.__all__
    assert function.__doc__


def test_the_two_names_of_the_baseline_are_one_function():
    assert vectorized.optimized_matmul is vectorized.matmul_baseline


@pytest.mark.parametrize("dtype", DTYPES)
def test_operations_return_five_results_by_name(dtype):
    x, y = np.array([[3, 0], [1, 2]], dtype), np.array([[0, 4], [1, 2]], dtype)
    results = vectorized.vectorized_operations(x=x, y=y)
    arrays = {
        "element_wise_multiply": [[0, 0], [1, 4]],
        "element_wise_add": [[3, 4], [2, 4]],
        "squared_difference": [[9, 16], [0, 0]],
    }
    assert results.keys() == arrays.keys() | {"euclidean_distance", "dot_product"}
    for key, want in arrays.items():
        assert results[key].dtype == dtype
        assert np.array_equal(results[key], want)
    assert type(results["euclidean_distance"]) is type(results["dot_product"]) is float
    assert (results["euclidean_distance"], results["dot_product"]) == (5.0, 5.0)


@pytest.mark.parametrize(("kernel", "shape", "inputs"), OUT)
def test_out_is_filled_and_returned(kernel, shape, inputs):
    want = kernel(None)
    out = np.full(shape, 7.0)
    assert kernel(out) is out
    assert np.array_equal(out, want)
    assert kernel(out) is out and np.array_equal(out, want), "the second call differs"
    wide = np.full((2 * shape[0], 3 * shape[1]), 7.0)
    view = wide[::-2, ::3]
    assert kernel(view) is view
    assert np.allclose(view, want, rtol=1e-14, atol=0)
    assert np.count_nonzero(wide == 7.0) == wide.size - want.size


@pytest.mark.parametrize(("kernel", "shape", "inputs"), OUT)
def test_an_out_that_does_not_fit_is_refused_before_any_work(kernel, shape, inputs):
    frozen = np.full(shape, 7.0)
    frozen.setflags(write=False)
    refused = [np.full((3, *shape), 7.0), np.full(shape, 7.0, np.float32), frozen]
    for out in refused:
        with pytest.raises(ValueError, match="out is"):
            kernel(out)
        assert np.all(out == 7.0)
    with pytest.raises(TypeError, match="out is a list"):
        kernel([[0.0] * shape[1]] * shape[0])


@pytest.mark.parametrize("place", range(3))
def test_an_out_that_shares_memory_with_any_input_is_refused(place):
    shared = np.arange(12.0).reshape(4, 3)
    inputs = [np.ones((2, 3)), np.ones(3), np.zeros(3)]
    inputs[place] = shared[1:3] if place == 0 else shared[1]
    with pytest.raises(ValueError, match="shares memory"):
        vectorized.layernorm(*inputs, out=shared[:2])
    between = np.zeros((4, 3))[::2]
    assert vectorized.layernorm(*inputs, out=between) is between


def test_elements_that_lie_between_those_of_an_input_may_be_written():
    wide = np.arange(-8.0, 8.0)
    want = vectorized.vectorized_relu(wide[::2])
    assert np.array_equal(vectorized.vectorized_relu(wide[::2], out=wide[1::2]), want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, 2, -2])
def test_softmax_along_any_axis(axis, dtype):
    x = (np.arange(24).reshape(2, 3, 4) % 7 - 3).astype(dtype)
    y = vectorized.softmax(x, axis=axis)
    assert y.dtype == dtype
    rows = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
    want = loops.softmax_loops(rows).reshape(np.moveaxis(x, axis, -1).shape)
    assert np.allclose(np.moveaxis(y, axis, -1), want, rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_layernorm_of_three_axes_is_that_of_its_rows(dtype):
    x = (np.arange(24).reshape(2, 3, 4) ** 2 % 11).astype(dtype)
    gamma, beta = np.array([1, 2, -1, 0.5], dtype), np.array([0, 1, 0, -2], dtype)
    want = loops.layernorm_loops(x.reshape(6, 4), gamma, beta).reshape(x.shape)
    assert np.allclose(vectorized.layernorm(x, gamma, beta), want, rtol=0, atol=1e-5)


@given(matrices(3, 5), matrices(5, 2))
def test_a_product_of_whole_numbers_is_that_of_numpy(a, b):
    assert np.array_equal(vectorized.vectorized_matmul(a, b), a @ b)
    assert np.array_equal(vectorized.matmul_baseline(a, b), loops.matmul_loops(a, b))


@given(matrices(2, 3), st.integers(-10_000, 10_000))
def test_softmax_does_not_see_a_shift(x, shift):
    assert np.array_equal(vectorized.softmax(x), vectorized.softmax(x + shift))


@given(
    hnp.arrays(np.float64, (2, 3, 4), elements=SMALL.map(float)),
    hnp.arrays(np.float64, (3, 2, 2, 3), elements=SMALL.map(float)),
    st.integers(0, 2),
)
def test_a_convolution_of_whole_numbers_is_that_of_the_loops(x, w, padding):
    want = loops.conv2d_loops(x, w, padding)
    assert np.array_equal(vectorized.conv2d_im2col(x=x, w=w, padding=padding), want)


@pytest.mark.parametrize(("r", "s", "padding"), [(1, 1, 0), (1, 3, 0), (3, 4, 0), (2, 2, 2)])
def test_columns_are_windows_in_memory_of_their_own(r, s, padding):
    x = np.arange(24.0).reshape(2, 3, 4)
    columns = vectorized.im2col(x=x, r=r, s=s, padding=padding)
    padded = np.pad(x, [(0, 0)] + 2 * [(padding, padding)])
    rows, wide = padded.shape[1] - r + 1, padded.shape[2] - s + 1
    assert columns.shape == (2 * r * s, rows * wide)
    assert columns.flags.c_contiguous and columns.flags.writeable
    for place, column in enumerate(columns.T):
        i, j = divmod(place, wide)
        assert np.array_equal(column, padded[:, i : i + r, j : j + s].ravel())
    columns[...] = -1
    assert np.array_equal(x, np.arange(24.0).reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("call", "arrays"),
    [
        (lambda x, out: vectorized.vectorized_relu(x), 1),
        (lambda x, out: vectorized.vectorized_relu(x, out=out), 0),
        (lambda x, out: vectorized.softmax(x), 1),
        (lambda x, out: vectorized.softmax(x, out=out), 0),
        (lambda x, out: vectorized.layernorm(x, x[0], x[1]), 1),
        (lambda x, out: vectorized.layernorm(x, x[0], x[1], out=out), 0),
        (lambda x, out: vectorized.vectorized_matmul(x[:, :3], x[:3]), 2),
        (lambda x, out: vectorized.vectorized_operations(x, out), 4),
    ],
)
def test_arrays_of_the_results_size_at_the_peak(call, arrays):
    x = np.random.default_rng(0).normal(size=(500, 500))
    out = np.ones_like(x)
    call(x, out)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call(x, out)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak <= (arrays + 0.2) * x.nbytes


@pytest.mark.parametrize("shape", [(), (2, 3, 4)])
def test_shapes_that_a_product_refuses(shape):
    for product in (vectorized.matmul_baseline, vectorized.vectorized_matmul):
        with pytest.raises(ValueError, match="axes"):
            product(np.zeros(shape), X)
        with pytest.raises(TypeError, match="astype"):
            product(X, X.T.astype(np.float32))


@pytest.mark.parametrize("kernel", [vectorized.vectorized_relu, vectorized.softmax])
def test_what_has_no_axis_or_no_float_is_refused(kernel):
    with pytest.raises(ValueError, match="1 or more"):
        kernel(np.array(2.0))
    for bad in ([1.0], np.arange(3), np.ones(2, np.float16), np.ones(2).astype(">f8")):
        with pytest.raises(TypeError, match="astype"):
            kernel(bad)

"""The exported loops: examples, layouts, and the laws that hold for every later kernel too."""

import doctest
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinykernels import loops

DTYPES = (np.float32, np.float64)
SMALL = st.integers(-8, 8)


def matrices(rows, columns):
    """Matrices of small whole numbers, whose sums and products are exact."""
    return hnp.arrays(np.float64, (rows, columns), elements=SMALL.map(float))


def as_stored(x, layout):
    """The values of x in another place or order of memory."""
    wide = np.full((2 * x.shape[0], 3 * x.shape[1]), 77, x.dtype)
    wide[::2, ::3] = x
    odd = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    odd[...] = x
    frozen = x.copy()
    frozen.setflags(write=False)
    return {
        "Fortran": np.asfortranarray(x),
        "steps": wide[::2, ::3],
        "reversed": x[::-1, ::-1].copy()[::-1, ::-1],
        "unaligned": odd,
        "read-only": frozen,
        "one row again and again": np.broadcast_to(x[0], x.shape),
    }[layout]


def test_the_examples_of_the_docstrings_are_right():
    assert doctest.testmod(loops).failed == 0
    assert doctest.testmod(loops).attempted >= 8


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "layout",
    ["Fortran", "steps", "reversed", "unaligned", "read-only", "one row again and again"],
)
def test_the_layout_of_an_input_changes_nothing(layout, dtype):
    plain = (np.arange(15) % 7 - 3).reshape(3, 5).astype(dtype)
    x = as_stored(plain, layout)
    c_order = x.copy()
    ones, zeros = np.ones(5, dtype), np.zeros(5, dtype)
    for kernel in (
        loops.relu_loops,
        loops.softmax_loops,
        lambda x: loops.layernorm_loops(x, ones, zeros),
        lambda x: loops.matmul_loops(x, x.T),
        lambda x: loops.conv2d_loops(x[None], x[None, None, :2, :2], padding=1),
    ):
        result = kernel(x)
        assert np.array_equal(result, kernel(c_order))
        assert result.dtype == dtype
        assert not np.shares_memory(result, x)
    assert np.array_equal(x, c_order)


@given(matrices(3, 5), matrices(5, 2))
def test_a_product_of_whole_numbers_is_that_of_numpy(a, b):
    assert np.array_equal(loops.matmul_loops(a, b), a @ b)


@given(matrices(3, 2), matrices(2, 4), matrices(2, 4))
def test_a_product_distributes_over_a_sum(a, b, c):
    product = loops.matmul_loops
    assert np.array_equal(product(a, b + c), product(a, b) + product(a, c))


@given(matrices(2, 3), st.integers(-10_000, 10_000))
def test_softmax_does_not_see_a_shift(x, shift):
    assert np.array_equal(loops.softmax_loops(x), loops.softmax_loops(x + shift))


@given(matrices(2, 3))
def test_softmax_rows_are_weights(x):
    y = loops.softmax_loops(x)
    assert (y > 0).all()
    assert np.allclose(y.sum(axis=1), 1, rtol=1e-15, atol=0)


def test_rows_with_infinities_keep_to_the_rule_without_a_warning():
    inf, nan = np.inf, np.nan
    x = np.array([[-inf, -inf], [0, -inf], [nan, -inf], [-inf, nan], [inf, 0], [3, 3]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = loops.softmax_loops(x)
    want = np.array([[0, 0], [1, 0], [nan, nan], [nan, nan], [nan, nan], [0.5, 0.5]], np.float32)
    assert np.array_equal(y, want, equal_nan=True)


@pytest.mark.parametrize("offset", [0, 1e3, 1e5, 1e6])
def test_layernorm_of_rows_far_from_zero(offset):
    row = np.array([[-3.0, -2.0, 0.0, 1.0, 2.0, 5.0, 6.0]])
    ones, zeros = np.ones(7), np.zeros(7)
    near = loops.layernorm_loops(row, ones, zeros)
    far = loops.layernorm_loops(row + offset, ones, zeros)
    assert np.allclose(far, near, rtol=0, atol=1e-9)


def test_a_window_of_one_pixel_scales_the_channels():
    x = np.arange(12.0).reshape(2, 3, 2)
    w = np.array([[[[10.0]], [[1.0]]]])
    assert np.array_equal(loops.conv2d_loops(x, w)[0], 10 * x[0] + x[1])


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "2", None, [2], np.array([2])])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(TypeError, match="block"):
        loops.check_count("block", value)


def test_the_door_names_what_mends_a_wrong_dtype():
    for bad in ([[1.0]], np.ones((1, 1), int), np.ones((1, 1)).astype(">f8"), 1.0):
        with pytest.raises(TypeError, match="astype"):
            loops.check_float_array("x", bad, ndim=2)


def test_the_door_lets_in_any_number_of_axes_but_none():
    for shape in ((3,), (0,), (2, 3), (2, 1, 3, 2)):
        assert loops.check_float_array("x", np.zeros(shape), ndim=None) == shape
    with pytest.raises(ValueError, match="0 axes: 1 or more needed"):
        loops.check_float_array("x", np.array(1.0), ndim=None)


def test_the_door_lets_in_whatever_looks_like_an_array():
    class Counted:
        dtype, shape, ndim = np.dtype(np.float32), (2, 3), 2

    assert loops.check_float_array("x", Counted(), ndim=(1, 2)) == (2, 3)

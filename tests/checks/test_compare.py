"""What counts as equal: type, dtype, shape, finite pattern, and the rounding bound."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tito.checks import CheckFailed, expect_close, expect_equal

nan, inf = math.nan, math.inf
E = np.array([1.0, 2.0, 3.0])


class Subclass(np.ndarray):
    """An array whose comparisons could be anything."""

    @classmethod
    def of(cls, array):
        return array.view(cls)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (np.zeros(0), E),
        (np.zeros(0), np.float64(2)),
        (np.ones((4, 1)), np.ones(4)),
        (2.0, np.full((2, 2), 2.0)),
        (np.full((2, 2), 2.0), 2.0),
        (np.array([1.0, nan, 3.0]), E),
        (E, np.array([1.0, nan, 3.0])),
        (np.array([nan, 2.0]), np.array([inf, 2.0])),
        (np.array([-inf]), np.array([inf])),
        (np.array([inf]), np.array([1e308])),
        (np.array([1e308]), np.array([inf])),
        ([1.0, 2.0, 3.0], E),
        (E, E.astype(np.float32)),
        (E.astype(np.float32), E),
        (E.astype(">f8"), E),
        (np.array([1, 2, 3]), E),
        (np.array([True]), np.array([1.0])),
        (True, 1.0),
        (np.True_, 1.0),
        (1, True),
        ("2.0", 2.0),
        (None, 2.0),
        (nan, 2.0),
        (np.array(2.0), 2.0),
        (np.float32(2), 2.0),
        (2.0, np.float32(2)),
        (2.0, 2),
        (True, 1),
        (np.ma.masked_all(3), E),
        (np.ma.array(E), E),
        (Subclass.of(E), E),
        (E.astype(object), E),
        (E + 1e-13j, E),
        (2 + 0j, 2.0),
        (np.array([1e9 + 2.0]), np.array([1e9 + 400.0])),
        (np.array([2e-9]), np.array([6e-9])),
        (np.array([2**60 + 1]), np.array([2**60])),
        (np.array([True, False]), np.array([True, True])),
    ],
)
def test_is_not_close(got, want):
    with pytest.raises(CheckFailed):
        expect_close(got, want)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (E.copy(), E),
        (np.array([-0.0]), np.array([0.0])),
        (np.array([nan, inf, -inf, 1.0]), np.array([nan, inf, -inf, 1.0])),
        (E[::-1], E[::-1].copy()),
        (np.asfortranarray(np.eye(3)), np.eye(3)),
        (np.float64(2), 2.0),
        (2.0, np.float64(2)),
        (2, 2.0),
        (np.int64(2), 2),
        (2, np.int64(2)),
        (np.float32(2), np.float32(2)),
        (np.array(2.0), np.array(2.0)),
        (np.nextafter(1.0, 2), 1.0),
        (np.bool_(True), True),
        (np.array([5e-324]), np.array([0.0])),
    ],
)
def test_is_close(got, want):
    expect_close(got, want)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_comparing_nothing_is_the_tests_mistake(shape):
    nothing = np.zeros(shape)
    for check in (expect_close, expect_equal):
        with pytest.raises(ValueError, match="nothing is compared"):
            check(nothing.copy(), nothing)
        check(nothing.copy(), nothing, allow_empty=True)
        with pytest.raises(CheckFailed, match="shape"):
            check(np.zeros((*shape[::-1], 1)), nothing, allow_empty=True)
        with pytest.raises(CheckFailed, match="dtype"):
            check(nothing.astype(np.float32), nothing, allow_empty=True)


def test_an_empty_sum_may_be_compared_where_the_test_says_so():
    expect_close(np.zeros(0), np.zeros(0), inner=0)


def test_nan_throughout_must_be_meant():
    with pytest.raises(ValueError, match="looks like an accident"):
        expect_close(np.full(3, nan), np.full(3, nan))
    expect_close(np.full(3, nan), np.full(3, nan), allow_nan=True)
    with pytest.raises(CheckFailed):
        expect_close(np.array([nan, 0, nan]), np.full(3, nan), allow_nan=True)


@pytest.mark.parametrize(
    "want", [[1.0], (1.0,), "1", None, 1j, np.ma.array(E), E.astype(object), E + 0j, Subclass.of(E)]
)
def test_an_expected_value_that_nothing_can_be_close_to_is_the_tests_mistake(want):
    with pytest.raises(TypeError, match="the expected value"):
        expect_close(want, want)


@pytest.mark.parametrize("inner", [-1, True, nan, "3", None])
def test_inner_is_a_number_of_terms(inner):
    with pytest.raises((ValueError, TypeError)):
        expect_close(1.0, 1.0, inner=inner)


def test_the_dtype_asked_for_may_differ_from_the_specifications():
    want = np.array([0.1, 0.2])
    expect_close(want.astype(np.float32), want, dtype=np.float32)
    with pytest.raises(CheckFailed, match="dtype is float64, expected float32"):
        expect_close(want, want, dtype=np.float32)


def test_the_scale_says_what_was_added_up():
    got, want = np.array([1e-4], np.float32), np.array([0], np.float32)
    with pytest.raises(CheckFailed):
        expect_close(got, want, inner=100)
    expect_close(got, want, inner=100, scale=1e2)
    expect_close(got, want, inner=100, scale=np.array([1e2]))
    with pytest.raises(CheckFailed):
        expect_close(got, want, inner=100, scale=1.0)


def test_without_cancellation_a_small_element_has_a_small_bound():
    want = np.array([1.0, 1e-10])
    with pytest.raises(CheckFailed):
        expect_close(want + np.array([0, 1e-20]), want)


finite = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.floats(-1e3, 1e3, width=32),
)


@settings(max_examples=60, deadline=None)
@given(finite, st.integers(0, 2**32 - 1))
def test_a_float32_product_in_any_order_is_within_the_bound(a, seed):
    """Higham's bound: the error of any order of summation is at most gamma_k sum |a||b|."""
    rng = np.random.default_rng(seed)
    b = (1e3 * rng.standard_normal((a.shape[1], 3))).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    scale = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    got = np.zeros(exact.shape, np.float32)
    for p in rng.permutation(a.shape[1]):
        got += a[:, p : p + 1] * b[p]
    expect_close(got, exact, dtype=np.float32, inner=a.shape[1], scale=scale)


@settings(max_examples=60, deadline=None)
@given(finite)
def test_one_wrong_term_is_outside_the_bound(a):
    scale = np.abs(a).sum(axis=1, dtype=np.float64)
    want = a.sum(axis=1, dtype=np.float64)
    got = want.astype(np.float32)
    got[0] += 2 * (a.shape[1] + 4) * np.finfo(np.float32).eps * (scale[0] + 1e-3)
    with pytest.raises(CheckFailed):
        expect_close(got, want, dtype=np.float32, inner=a.shape[1], scale=scale)


@pytest.mark.parametrize("n", [1, 2, 33, 1000])
def test_an_honest_float32_softmax_passes(n):
    x = np.linspace(-30, 30, 4 * n, dtype=np.float32).reshape(4, n)
    wide = x.astype(np.float64)
    exact = np.exp(wide - wide.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    got = np.exp(x - x.max(axis=1, keepdims=True))
    got /= got.sum(axis=1, keepdims=True)
    expect_close(got, exact, dtype=np.float32, inner=n)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (1, True),
        (True, 1),
        (1.0, 1),
        (np.int64(1), 1),
        (np.float64(1), 1.0),
        ([1], (1,)),
        ([1, 2], [1]),
        ([], [1]),
        ({"a": 1}, {}),
        ({}, {"a": 1}),
        ({"a": [1, 2.0]}, {"a": [1, 3.0]}),
        (None, 0),
        ("a", "b"),
        ("1", 1),
        (nan, 1.0),
        (np.float32(1), np.float32(2)),
        (np.array([1.0, 2.0]), np.array([1.0, np.nextafter(2.0, 3)])),
        (np.array([1.0]), [1.0]),
        ((1, np.array([1])), (1, np.array([2]))),
        (np.array(1.0), 1.0),
        (slice(0, 2), slice(0, 3)),
    ],
)
def test_is_not_equal(got, want):
    with pytest.raises(CheckFailed):
        expect_equal(got, want)


@pytest.mark.parametrize(
    "value",
    [
        1, 1.5, True, None, "a", nan, [], {}, (), [1, [2.0, None]], {"a": (1, 2)}, {1, 2},
        np.float32(nan), np.array([nan, 1.0]), (1, np.ones((2, 2))), slice(0, 2), range(3),
    ],
)  # fmt: skip
def test_is_equal_to_itself(value):
    expect_equal(value, value)


def test_an_object_that_says_yes_to_everything_is_not_equal():
    class Yes:
        def __eq__(self, other):
            return True

        __hash__ = None

    class YesFloat(float):
        def __eq__(self, other):
            return True

        __hash__ = None

    for want in (1, 1.0, "a", [1], E):
        for got in (Yes(), YesFloat(9), [Yes()]):
            with pytest.raises(CheckFailed):
                expect_equal(got, want)
    with pytest.raises(CheckFailed):
        expect_close(YesFloat(1), 1.0)

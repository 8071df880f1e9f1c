"""Layer norm of rows far from zero, of equal elements and of squares that do not fit."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from tests.tinykernels.variants import LAYERNORM

EVERY = pytest.mark.parametrize("layernorm", LAYERNORM.values(), ids=LAYERNORM.keys())
DTYPES = (np.float32, np.float64)


def exact(x, eps=1e-5):
    """The normed rows, with mean and variance as fractions."""
    rows = []
    for row in x.tolist():
        values = [Fraction(v) for v in row]
        mean = sum(values) / len(values)
        variance = sum((v - mean) ** 2 for v in values) / len(values)
        rows.append([float(v - mean) / float(variance + Fraction(eps)) ** 0.5 for v in values])
    return np.array(rows)


def normed(layernorm, x, **options):
    n = x.shape[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return layernorm(x, np.ones(n, x.dtype), np.zeros(n, x.dtype), **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0, 300, -3e4, 1e6, -4e6])
@EVERY
def test_rows_far_from_zero(layernorm, offset, dtype):
    x = (np.array([[-2, 0.5, 3, -1, 0.25], [5, -5, 4, 1, -8]]) + offset).astype(dtype)
    assert np.allclose(normed(layernorm, x), exact(x), rtol=0, atol=2e-6)


@EVERY
def test_a_mean_that_float32_cannot_hold(layernorm):
    x = np.full((1, 300), 2**20, np.float32)
    x[0, ::3] += 0.125
    assert np.allclose(normed(layernorm, x), exact(x), rtol=0, atol=1e-4)


@pytest.mark.parametrize("level", [0.1, 1 / 3, 777.0, -2.5e5])
@pytest.mark.parametrize("n", [1, 5, 1000])
@EVERY
def test_equal_elements_give_zeros(layernorm, n, level):
    y = normed(layernorm, np.full((2, n), level, np.float32))
    assert np.all(np.abs(y) <= 1e-3)


@EVERY
def test_one_element_differs(layernorm):
    x = np.full((1, 2048), 512, np.float32)
    x[0, 0] = 513
    assert np.allclose(normed(layernorm, x), exact(x), rtol=1e-4, atol=1e-6)


@EVERY
def test_squares_that_do_not_fit_into_float32(layernorm):
    x = np.array([[3e20, -1e20, 0, 0], [-2e19, 2e19, 2e19, -2e19]], np.float32)
    assert np.allclose(normed(layernorm, x), exact(x), rtol=1e-5, atol=1e-5)


@EVERY
def test_what_is_not_finite_stays_in_its_row(layernorm):
    x = np.array([[1, np.nan, 2], [np.inf, 0, 0], [-np.inf, np.inf, 1], [1, 2, 4]])
    y = normed(layernorm, x)
    assert np.isnan(y[:3]).all()
    assert np.allclose(y[3:], exact(x[3:]))


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (4, 1)])
@EVERY
def test_no_elements_or_one(layernorm, shape):
    y = normed(layernorm, np.full(shape, 7.0))
    assert y.shape == shape and not y.any()


@EVERY
def test_what_the_door_refuses(layernorm):
    x, ones, zeros = np.ones((2, 3)), np.ones(3), np.zeros(3)
    for eps in (0.0, -1e-5, np.nan):
        with pytest.raises(ValueError, match="eps"):
            layernorm(x, ones, zeros, eps=eps)
    for bad in (np.ones(1), np.ones(4), np.ones((1, 3))):
        with pytest.raises(ValueError, match="gamma"):
            layernorm(x, bad, zeros)
        with pytest.raises(ValueError, match="beta"):
            layernorm(x, ones, bad)
    for other in (x.astype(np.float16), x.astype(int), x.astype(np.uint8), x.tolist()):
        with pytest.raises(TypeError, match="astype"):
            layernorm(other, ones, zeros)

"""One rule for rows with infinities and NaN, the same in every variant of softmax."""

import warnings

import numpy as np
import pytest

from tests.tinykernels.variants import SOFTMAX

inf, nan = np.inf, np.nan
DTYPES = (np.float32, np.float64)
# row -> its softmax; the masks fill first or last blocks of 4 and of 8 as well.
ROWS = {
    "masked throughout": ([-inf] * 9, [0] * 9),
    "one score left": ([-inf] * 8 + [-7], [0] * 8 + [1]),
    "first blocks masked": ([-inf] * 7 + [2, 2], [0] * 7 + [0.5, 0.5]),
    "last blocks masked": ([3, 3] + [-inf] * 7, [0.5, 0.5] + [0] * 7),
    "every second masked": ([0, -inf] * 4 + [0], [0.2, 0] * 4 + [0.2]),
    "one plus infinity": ([1, inf] + [0] * 7, [nan] * 9),
    "both infinities": ([-inf] * 8 + [inf], [nan] * 9),
    "NaN first": ([nan] + [1] * 8, [nan] * 9),
    "NaN among masks": ([-inf] * 4 + [nan] + [-inf] * 4, [nan] * 9),
    "large": ([2000, 2000] + [-2000] * 7, [0.5, 0.5] + [0] * 7),
    "far below zero": ([-3e5] * 9, [1 / 9] * 9),
    "the whole range": ([3e38] + [-3e38] * 8, [1] + [0] * 8),
    "plain": ([np.log(2.0)] + [0] * 8, [0.2] + [0.1] * 8),
}


def quiet(softmax, x):
    before = x.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = softmax(x)
    assert np.array_equal(x, before, equal_nan=True)
    assert y.dtype == x.dtype
    return y


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("row", "want"), ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize("softmax", SOFTMAX.values(), ids=SOFTMAX.keys())
def test_a_row_alone(softmax, row, want, dtype):
    y = quiet(softmax, np.array([row], dtype))
    assert np.allclose(y, [want], rtol=1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("softmax", SOFTMAX.values(), ids=SOFTMAX.keys())
def test_rows_do_not_notice_each_other(softmax, order, dtype):
    rows, wants = zip(*ROWS.values())
    x, want = np.array(rows, dtype)[::order], np.array(wants)[::order]
    assert np.allclose(quiet(softmax, x), want, rtol=1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize("softmax", SOFTMAX.values(), ids=SOFTMAX.keys())
def test_a_caller_who_raises_for_everything_sees_nothing(softmax):
    rows = np.array([row for row, _ in ROWS.values()])
    with np.errstate(all="raise"):
        softmax(rows)


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
@pytest.mark.parametrize("softmax", SOFTMAX.values(), ids=SOFTMAX.keys())
def test_nothing_gives_nothing(softmax, shape):
    assert quiet(softmax, np.zeros(shape, np.float32)).shape == shape

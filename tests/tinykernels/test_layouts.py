"""The values decide, not where they lie: every variant of every kernel, in every layout."""

import warnings

import numpy as np
import pytest

from tests.tinykernels.variants import (
    COLUMN_SUMS,
    CONV2D,
    LAYERNORM,
    MATMUL,
    QUANTIZED_MATMUL,
    QUANTIZED_RELU,
    RELU,
    ROW_SUMS,
    SOFTMAX,
    TRANSPOSE,
)
from tinykernels.memory import pad_rows

PLAIN = np.array([[2, -0.5, 0, 7, 1, -3], [4, 4, -8, 0.25, 5, 6], [-1, 3, 2, 1, 9, -2]], np.float32)
# The other arguments of the calls below.
RIGHT = np.arange(12, dtype=np.float32).reshape(6, 2) - 4
LEFT = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
ONES = np.ones(6, np.float32)
WINDOW = np.array([[[[1, -2], [0.5, 3]]]], np.float32)
IMAGE = np.arange(42, dtype=np.float32).reshape(1, 6, 7) % 5


def in_steps(x):
    wide = np.full((3 * x.shape[0], 2 * x.shape[1]), -55, x.dtype)
    wide[::3, ::2] = x
    return wide[::3, ::2]


def between_far_rows(x):
    """Rows a power of two apart, so that all of them meet in one set of the cache."""
    wide = np.full((x.shape[0], 1 << 13), -55, x.dtype)
    wide[:, : x.shape[1]] = x
    return wide[:, : x.shape[1]]


def unaligned(x):
    odd = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    odd[...] = x
    return odd


def frozen(x):
    copy = x.copy()
    copy.setflags(write=False)
    return copy


# Layouts that every kernel must take; of the second table it may refuse each with a clear error.
TAKEN = {
    "Fortran order": np.asfortranarray,
    "transposed": lambda x: x.T.copy().T,
    "in steps": in_steps,
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "rows far apart": between_far_rows,
    "columns far apart": lambda x: between_far_rows(x.T).T,
    "read-only": frozen,
    "unaligned": unaligned,
}
MAY_BE_REFUSED = {
    "swapped bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "nested lists": lambda x: x.tolist(),
    "matrix": lambda x: np.asmatrix(x),
}


def calls():
    """(name, a function of one matrix) for each variant; every array argument in it may vary."""
    for name, relu in RELU.items():
        yield name, relu
    for name, softmax in SOFTMAX.items():
        yield name, softmax
    yield from QUANTIZED_RELU.items()
    for name, matmul in (MATMUL | QUANTIZED_MATMUL).items():
        yield f"{name}, left", lambda x, matmul=matmul: matmul(x, RIGHT)
        yield f"{name}, right", lambda x, matmul=matmul: matmul(LEFT, x)
    for name, layernorm in LAYERNORM.items():
        yield name, lambda x, layernorm=layernorm: layernorm(x, ONES, ONES)
    yield from ROW_SUMS.items()
    yield from COLUMN_SUMS.items()
    yield from TRANSPOSE.items()
    yield "pad_rows", lambda x: pad_rows(x, 3)
    for name, conv2d in CONV2D.items():
        yield f"{name}, image", lambda x, conv2d=conv2d: conv2d(as_stack(x, 1), WINDOW, 1)
        yield f"{name}, window", lambda x, conv2d=conv2d: conv2d(IMAGE, as_stack(x, 2))


def as_stack(x, axes):
    """The matrix with axes of length 1 in front, where it is an array that can have them."""
    return x[(None,) * axes] if type(x) is np.ndarray else x


CALLS = dict(calls())


def called(kernel, x):
    """The result, and no RuntimeWarning on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return kernel(x)


def same(result, want):
    return np.allclose(np.asarray(result), want, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("layout", TAKEN.values(), ids=TAKEN.keys())
@pytest.mark.parametrize("kernel", CALLS.values(), ids=CALLS.keys())
def test_no_layout_changes_a_result(kernel, layout):
    want, x = kernel(PLAIN.copy()), layout(PLAIN)
    result = called(kernel, x)
    assert result.shape == want.shape and result.dtype == np.float32
    assert same(result, want)
    assert np.array_equal(x, PLAIN), "an input has changed"
    assert not np.shares_memory(result, x)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("layout", MAY_BE_REFUSED.values(), ids=MAY_BE_REFUSED.keys())
@pytest.mark.parametrize("kernel", CALLS.values(), ids=CALLS.keys())
def test_what_is_no_plain_array_gives_the_same_or_is_refused(kernel, layout):
    want, x = kernel(PLAIN.copy()), layout(PLAIN)
    try:
        result = called(kernel, x)
    except (TypeError, ValueError) as error:
        assert str(error)
    else:
        assert same(result, want)
    assert np.array_equal(np.asarray(x, np.float32), PLAIN), "an input has changed"


@pytest.mark.parametrize("kernel", CALLS.values(), ids=CALLS.keys())
def test_one_row_again_and_again(kernel):
    repeated = np.broadcast_to(PLAIN[1], PLAIN.shape)
    assert same(called(kernel, repeated), kernel(repeated.copy()))


@pytest.mark.parametrize("matmul", MATMUL.values(), ids=MATMUL.keys())
def test_a_matrix_times_itself_and_its_transpose(matmul):
    want = PLAIN.astype(float) @ PLAIN.T.astype(float)
    assert same(matmul(PLAIN, PLAIN.T), want)
    square = PLAIN[:, :3].copy()
    assert same(matmul(square, square), square.astype(float) @ square.astype(float))

# Built from module 07_numba by tito export; edit the module, not this file.
"""Numba: your loops as machine code, and the proof."""

import math
import threading

import numpy as np
from numba import njit, prange

from tinykernels import vectorized
from tinykernels.loops import FLOAT_DTYPES, check_float_array, check_matmul
from tinykernels.vectorized import check_out

__all__ = [
    "BAND",
    "BANDS",
    "C2",
    "C3",
    "C4",
    "C5",
    "GAP",
    "HALF",
    "HIGHEST",
    "LANES",
    "LN2_HIGH",
    "LN2_LOW",
    "LOG2_E",
    "LOWEST",
    "ONE",
    "PANEL",
    "PIECE",
    "axpy_chain",
    "axpy_range",
    "beside",
    "by_rows",
    "check_vectors",
    "column_sums_kernel",
    "column_sums_prange",
    "compiled_form",
    "copy_columns",
    "exp_fused",
    "exp_kernel",
    "exp_poly",
    "kernel",
    "layernorm_bands",
    "layernorm_fused",
    "layernorm_kernel",
    "layernorm_prange",
    "matmul_ijk",
    "matmul_ijk_kernel",
    "matmul_ikj",
    "matmul_ikj_kernel",
    "matmul_prange",
    "matmul_prange_kernel",
    "matmul_registers",
    "matmul_registers_kernel",
    "moments",
    "multiply",
    "norm_rows",
    "one_launch",
    "parallel_kernel",
    "pilot",
    "place_for",
    "power_of_two",
    "ready",
    "relu_fused",
    "relu_kernel",
    "row_maximum",
    "second_walk",
    "settled",
    "softmax_bands",
    "softmax_fused",
    "softmax_kernel",
    "softmax_prange",
    "tile_1x1",
    "tile_4x4",
    "up_to_line",
]


# 07_numba: kernel, parallel_kernel, compiled_form
kernel = njit(error_model="numpy", fastmath={"reassoc", "contract"}, nogil=True)
parallel_kernel = njit(
    error_model="numpy", fastmath={"reassoc", "contract"}, nogil=True, parallel=True
)


def compiled_form(x):
    """The values of x in the one form that kernels are compiled for.

    x : an array
    returns x itself if it is C-contiguous, aligned and writeable, else a copy that is
    """
    if type(x) is np.ndarray and x.flags.carray:
        return x  # the usual case: NumPy's own check below takes microseconds
    return np.require(x, requirements="CAWE")


def settled(y, out):
    """out, filled with what a kernel wrote into y = compiled_form(out)."""
    if y is not out:
        out[...] = y
    return out


def place_for(x, out, *others, dtype=None):
    """What a result of the shape of x is written into: out, if it is one and fits, or a new array.

    x, others : inputs, of which out may be none; x has one axis or more
    dtype     : the only one that is taken, if not both are
    raises TypeError and ValueError as check_float_array and check_out
    """
    check_float_array("x", x, ndim=None, dtype=dtype)
    return check_out(out, x.shape, x, *others)


def ready(x, out):
    """Whether place_for would take out, and compiled_form both arrays as they are.

    All in one look, for the usual case: calls of Python functions have their price. Two arrays
    that own their memory, as most do, need not be asked whether they share it.
    """
    return (
        type(x) is np.ndarray is type(out)
        and x.dtype is out.dtype
        and x.dtype in FLOAT_DTYPES
        and x.shape == out.shape != ()
        and x.flags.carray
        and out.flags.carray
        and ((x.base is None is out.base and x is not out) or not np.may_share_memory(x, out))
    )


def by_rows(kernel, x, out, *given):
    """Let a kernel(x, *given, y) write the rows of out, the last axis of which is that of x."""
    rows = (math.prod(x.shape[:-1]), x.shape[-1])
    y = compiled_form(out)
    kernel(compiled_form(x).reshape(rows), *given, y.reshape(rows))
    return settled(y, out)


@kernel
def up_to_line(y):
    """How many elements of y lie before its first cache line, which begins at a multiple of 64.

    A vector that reaches over the end of a line is stored in two steps.
    """
    return min(len(y), (64 - y.ctypes.data % 64) % 64 // y.itemsize)


# n: number of elements
@kernel
def relu_kernel(x, y):
    zero, edge = x.dtype.type(0), up_to_line(y)
    for start, stop in ((0, edge), (edge, len(y))):
        source, target = x[start:stop], y[start:stop]
        for i in range(len(target)):
            value = source[i]
            target[i] = zero if value < zero else value


def relu_fused(x, out=None):
    """Zero in place of every negative element, in one pass over memory.

        y[...] = 0 where x[...] < 0, else x[...]

    x   : float32 or float64, one axis or more, any stride; not modified; NaN stays NaN
    out : an array of x's shape and dtype, or None for a new one
    returns out
    raises TypeError and ValueError as check_float_array and check_out

    >>> relu_fused(np.array([[-1.5, 0.0], [2.5, -np.inf]]))
    array([[0. , 0. ],
           [2.5, 0. ]])
    """
    if ready(x, out):
        relu_kernel(x.ravel(), out.ravel())
        return out
    out = place_for(x, out)
    y = compiled_form(out)
    relu_kernel(compiled_form(x).ravel(), y.ravel())
    return settled(y, out)


# m, k, n: rows, inner size, columns
@kernel
def matmul_ijk_kernel(a, b, c):
    zero = c.dtype.type(0)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = zero
            for p in range(a.shape[1]):
                total += b[p, j] * a[i, p]
            c[i, j] = total


def matmul_ijk(a, b, out=None):
    """The product of two matrices by the three loops of 02, compiled.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_ijk(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return multiply(matmul_ijk_kernel, a, b, out)


def multiply(kernel, a, b, out):
    """Let a kernel(a, b, c) write the product of a and b into out, or into a new array."""
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    c = compiled_form(out)
    kernel(compiled_form(a), compiled_form(b), c)
    return settled(c, out)


# 07_numba: matmul_ikj
@kernel
def matmul_ikj_kernel(a, b, c):
    """c = a b with the loops in the order i, p, j; what stood in c does not count.

    a : (m, k), b : (k, n), c : (m, n), all C-contiguous and of one dtype; only c is changed
    k = 0 gives zeros; each a[i, p] is read once
    """
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]


def matmul_ikj(a, b, out=None):
    """The product of two matrices, row of b by row of b; arguments as for matmul_ijk.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_ikj(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return multiply(matmul_ikj_kernel, a, b, out)


# 07_numba: axpy_range
@kernel
def axpy_range(y, x, alpha, start, stop):
    """Add a multiple of one piece of x to the same piece of y, in place.

        y[start:stop] += alpha * x[start:stop]

    y, x        : (n,) C-contiguous, of one dtype; only y is changed
    alpha       : a number of that dtype
    start, stop : int, 0 <= start <= stop <= n
    allocates nothing
    """
    target = y[start:stop]
    source = x[start:stop]
    for i in range(len(target)):
        target[i] += alpha * source[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    """y[start:stop] += alphas[p] * x[p, start:stop] for each p; rows of x are taken in turn.

    y : (n,), x : (r, n), alphas : any number of factors
    """
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)


# 07_numba: tile_1x1
# i: row; p0, p1: range of the inner index; j0, j1: range of columns
@kernel
def tile_1x1(a, b, c, i, p0, p1, j0, j1):
    """Add the products of row i of a with rows p0 to p1 of b to c[i, j0:j1]."""
    target = c[i, j0:j1]
    for p in range(p0, p1):
        factor, source = a[i, p], b[p, j0:j1]
        for j in range(len(target)):
            target[j] += factor * source[j]


# 07_numba: tile_4x4
@kernel
def tile_4x4(a, b, c, i, p0, p1, j0, j1):
    """Add a product of four rows of a and some rows of b to four rows of c, in place.

        c[i + r, j0:j1] += a[i + r, p] * b[p, j0:j1]    for r in 0..3, p in p0..p1

    a, b, c : C-contiguous, of one dtype; only c is changed
    i       : first of the four rows of a and c
    p0, p1  : 0 <= p0 <= p1; p1 - p0 may be any number, also 0
    j0, j1  : columns of b and c; 0 <= j0 <= j1
    """
    c0, c1, c2, c3 = c[i, j0:], c[i + 1, j0:], c[i + 2, j0:], c[i + 3, j0:]
    end = p1 - (p1 - p0) % 4
    for p in range(p0, end, 4):
        a00, a01, a02, a03 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
        a10, a11, a12, a13 = a[i + 1, p], a[i + 1, p + 1], a[i + 1, p + 2], a[i + 1, p + 3]
        a20, a21, a22, a23 = a[i + 2, p], a[i + 2, p + 1], a[i + 2, p + 2], a[i + 2, p + 3]
        a30, a31, a32, a33 = a[i + 3, p], a[i + 3, p + 1], a[i + 3, p + 2], a[i + 3, p + 3]
        b0, b1, b2, b3 = b[p, j0:], b[p + 1, j0:], b[p + 2, j0:], b[p + 3, j0:]
        for j in range(j1 - j0):
            v0, v1, v2, v3 = b0[j], b1[j], b2[j], b3[j]
            c0[j] += a00 * v0 + a01 * v1 + a02 * v2 + a03 * v3
            c1[j] += a10 * v0 + a11 * v1 + a12 * v2 + a13 * v3
            c2[j] += a20 * v0 + a21 * v1 + a22 * v2 + a23 * v3
            c3[j] += a30 * v0 + a31 * v1 + a32 * v2 + a33 * v3
    for row in range(i, i + 4):
        tile_1x1(a, b, c, row, end, p1, j0, j1)


# Columns of a panel, and elements between the ends of its rows: one cache line of float32.
PANEL, GAP = 512, 16


@kernel
def copy_columns(source, first, target, place, count):
    """Copy so many columns of a matrix, from `first` on, to those of another from `place` on."""
    for i in range(len(source)):
        old, new = source[i, first : first + count], target[i, place : place + count]
        for j in range(len(old)):
            new[j] = old[j]


@kernel
def matmul_registers_kernel(a, b, c):
    """c = a b, panel of columns by panel of columns, four rows at a time."""
    (m, n), k = c.shape, len(b)
    width = max(1, min(n, PANEL))
    right = np.empty((k, width + GAP), b.dtype)
    sums = np.empty((m, width + GAP), c.dtype)
    # Not the bare 0: for a literal Numba compiles what is called once more, for that number alone.
    zero = np.int64(0)
    for j in range(zero, n, width):
        count = min(n - j, width)
        copy_columns(b, j, right, zero, count)
        sums[:] = 0
        for i in range(0, m - m % 4, 4):
            tile_4x4(a, right, sums, i, zero, k, zero, count)
        for i in range(m - m % 4, m):
            tile_1x1(a, right, sums, i, zero, k, zero, count)
        copy_columns(sums, zero, c, j, count)


def matmul_registers(a, b, out=None):
    """The product of two matrices in tiles of 4 x 4 numbers that stay in registers.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_registers(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return multiply(matmul_registers_kernel, a, b, out)


# 07_numba: LOG2_E, LN2_HIGH, LN2_LOW
LOG2_E = np.float32(1.4426950408889634)
# ln 2 in two pieces: the product of the first with a whole number up to 128 is exact.
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.1219444e-4)
# exp(r) = 1 + r + C2 r^2 + ... + C5 r^5 for |r| <= ln(2)/2, relative error below 1.1e-7: the
# minimax polynomial of that form (Remez' exchange), rounded to float32.
C2, C3 = np.float32(0.49999231), np.float32(0.16667115)
C4, C5 = np.float32(0.041890157), np.float32(0.0083125202)
HALF, ONE = np.float32(0.5), np.float32(1)
# Beyond these, 2**n is 0 and infinity.
LOWEST, HIGHEST = np.float32(-88), np.float32(89)


@kernel
def power_of_two(n):
    """2**n as float32, made of its bits: 0 for n = -127, infinity for n = 128.

    n : a whole number from -127 to 128, also as float32
    """
    return np.int32((np.int32(n) + 127) << 23).view(np.float32)


# 07_numba: exp_poly
@kernel
def exp_poly(x):
    """exp of one number, without a call that would hold up the loop around it.

    x : float32
    returns float32: from -87.3 to 88.3 with a relative error of at most 3e-7; 0 from -87.7 down,
        -inf too; inf from 88.4 up; NaN for NaN
    S. L. Moshier, Cephes Mathematical Library (expf): the reduction by ln 2 in two pieces.
    """
    x = min(max(x, LOWEST), HIGHEST)
    n = np.floor(x * LOG2_E + HALF)
    r = x - n * LN2_HIGH - n * LN2_LOW
    result = C5 * r + C4
    result = result * r + C3
    result = result * r + C2
    result = result * r + ONE
    result = result * r + ONE
    return result * power_of_two(n)


@kernel
def exp_kernel(x, y):
    """exp of each element of x, written into y of the same size."""
    edge = up_to_line(y)
    for start, stop in ((0, edge), (edge, len(y))):
        source, target = x[start:stop], y[start:stop]
        for i in range(len(target)):
            target[i] = exp_poly(source[i])


def exp_fused(x, out=None):
    """exp of every element, by exp_poly.

    x   : float32, one axis or more, any stride; not modified
    out : an array of x's shape and dtype, or None for a new one
    returns out; accuracy and edges as exp_poly
    raises TypeError and ValueError as check_float_array and check_out, TypeError also for float64

    >>> exp_fused(np.array([0.0, -np.inf], np.float32))
    array([1., 0.], dtype=float32)
    """
    out = place_for(x, out, dtype=np.float32)
    y = compiled_form(out)
    exp_kernel(compiled_form(x).ravel(), y.ravel())
    return settled(y, out)


# 07_numba: LANES, BANDS, one_launch
# Maxima that run side by side: four vectors of 16 numbers, or eight of 8.
LANES = 64

# Bands of rows, for threads: some for every core there may be, the same number everywhere.
BANDS = 32

# One launch at a time: where Numba has only its own threads (macOS), a second one ends Python.
one_launch = threading.Lock()


# 07_numba: softmax_fused
@kernel
def row_maximum(row, lanes):
    """The largest element of a row, by LANES comparisons at a time.

    row   : (n,) float32, C-contiguous; NaN is passed over
    lanes : (LANES,) float32, room to work in
    returns -inf for n = 0
    """
    lanes[:] = -np.inf
    end = len(row) - len(row) % LANES
    for j in range(0, end, 2 * LANES):
        k = min(j + LANES, end - LANES)
        piece, other = row[j : j + LANES], row[k : k + LANES]
        for q in range(LANES):
            lanes[q] = max(max(lanes[q], piece[q]), other[q])
    top = lanes[0]
    for q in range(LANES):
        top = max(top, lanes[q])
    rest = row[end:]
    for q in range(len(rest)):
        top = max(top, rest[q])
    return top


# m, n: rows, columns
@kernel
def softmax_kernel(x, y):
    """Softmax of each row of x, written into y; row by row.

    x, y : (m, n) float32, C-contiguous; only y is changed
    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN.
    """
    lanes, zero = np.empty(LANES, x.dtype), x.dtype.type(0)
    for i in range(len(x)):
        row, weights = x[i], y[i]
        top = row_maximum(row, lanes)
        if top == -np.inf:
            top = zero
        total = zero
        for j in range(len(row)):
            power = exp_poly(row[j] - top)
            weights[j] = power
            total += power
        scale = ONE / total if total != 0 else total
        for j in range(len(row)):
            weights[j] *= scale


def softmax_fused(x, out=None):
    """Softmax along the last axis, one row after the other, each in the cache.

        y = exp(x - t) / sum of exp(x - t),  t = max of x, both along the last axis

    x   : float32 or float64, one axis or more, any stride; not modified
    out : an array of x's shape and dtype, or None for a new one
    returns out; float64 goes to 03's softmax, since exp_poly has the digits of float32
    raises TypeError and ValueError as check_float_array and check_out

    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN. No warning escapes.

    >>> softmax_fused(np.array([[0.0, 0.0], [1000.0, -np.inf]], np.float32))
    array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)
    """
    if getattr(x, "dtype", None) == np.float64:
        return vectorized.softmax(x, out=out)
    return by_rows(softmax_kernel, x, place_for(x, out))


# Given: bands of rows, shared out to threads. Exercise 7 tells how.
@parallel_kernel
def softmax_bands(x, y):
    """softmax_kernel on bands of rows, which threads share out."""
    for w in prange(BANDS):
        first, last = int(w) * len(x) // BANDS, (int(w) + 1) * len(x) // BANDS
        softmax_kernel(x[first:last], y[first:last])


def softmax_prange(x, out=None):
    """softmax_fused by all threads that Numba has: its arguments, its errors, its results.

    x   : float32 or float64, one axis or more, any stride; not modified
    out : an array of x's shape and dtype, or None for a new one
    returns out

    >>> softmax_prange(np.array([[0.0, 0.0], [1000.0, -np.inf]], np.float32))
    array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)
    """
    if getattr(x, "dtype", None) == np.float64:
        return vectorized.softmax(x, out=out)
    with one_launch:
        return by_rows(softmax_bands, x, place_for(x, out))


# 07_numba: check_vectors, beside, norm_rows
def check_vectors(x, **vectors):
    """Look that each vector has one element for each column of x, and the dtype of x."""
    check_float_array("x", x, ndim=None)
    columns = x.shape[-1]
    for name in vectors:
        (length,) = check_float_array(name, vectors[name], ndim=1, dtype=x.dtype)
        if length != columns:
            raise ValueError(f"{name} has {length} elements, a row of x has {columns}")


def beside(vector, x, out):
    """Whether check_vectors and place_for would take a gamma or beta, in one look as in ready."""
    return (
        type(vector) is np.ndarray
        and vector.dtype is x.dtype
        and vector.shape == x.shape[-1:]
        and not np.may_share_memory(vector, out)
    )


def norm_rows(kernel, x, gamma, beta, eps, out):
    """Let a kernel(x, gamma, beta, eps, y) normalise the rows of x into out, or a new array."""
    if eps <= 0 or eps != eps:
        raise ValueError(f"eps = {eps}: it must be a number above 0")
    if not (ready(x, out) and beside(gamma, x, out) and beside(beta, x, out)):
        check_vectors(x, gamma=gamma, beta=beta)
        out = place_for(x, out, gamma, beta)
    return by_rows(kernel, x, out, compiled_form(gamma), compiled_form(beta), float(eps))


@kernel
def pilot(row):
    """The mean of the first 16 elements of a row, in its dtype: a number near its mean."""
    first = row[:16]
    # In shares, and in float64: the sum of large numbers might be none any more.
    share, mean = np.float64(1) / len(first), np.float64(0)
    for j in range(len(first)):
        mean += share * first[j]
    return row.dtype.type(mean)


@kernel
def moments(row, shift, total, squares):
    """(mean, variance) of the deviations row - shift, in float64.

    row            : (n,) float32 or float64
    shift          : a number of its dtype
    total, squares : sum of the deviations, and sum of their squares; where these lost too many
                     digits, or overflowed, both are added up again in float64
    """
    n = len(row)
    mean, square = np.float64(total) / n, np.float64(squares) / n
    if not mean * mean < 0.5 * square < math.inf:
        exact = exact_squares = 0.0
        for j in range(n):
            deviation = np.float64(row[j] - shift)
            exact += deviation
            exact_squares += deviation * deviation
        mean, square = exact / n, exact_squares / n
    return mean, max(square - mean * mean, 0.0)


# Rows that share one walk over gamma and beta, and columns of a piece of it.
BAND, PIECE = 16, 1024


# m, n: rows, columns
@kernel
def second_walk(band, found, gamma, beta, y):
    """y = (band - shift - mean) * factor * gamma + beta, in pieces of columns.

    band, y     : (m, n) of one dtype, m <= BAND; only y is changed
    found       : (BAND, 3), the shift, mean and factor of each row
    gamma, beta : (n,)
    In long rows the first piece ends with a cache line, so that the others are stored line by line.
    """
    columns = band.shape[1]
    first = (up_to_line(y[0]) if columns > PIECE else 0) or PIECE
    for stop in range(first, columns + PIECE, PIECE):
        low, high = max(stop - PIECE, 0), min(stop, columns)
        scale, offset = gamma[low:high], beta[low:high]
        for i in range(len(band)):
            shift, mean, factor = found[i, 0], found[i, 1], found[i, 2]
            row, normed = band[i, low:high], y[i, low:high]
            for j in range(len(row)):
                normed[j] = (row[j] - shift - mean) * factor * scale[j] + offset[j]


# 07_numba: layernorm_fused
# m, n: rows, columns
@kernel
def layernorm_kernel(x, gamma, beta, eps, y):
    """Layer norm of each row of x, written into y; one pass for the sums, one for the result.

    x, y        : (m, n) C-contiguous, of one dtype; only y is changed; m or n may be 0
    gamma, beta : (n,) of that dtype
    eps         : float64
    Only single numbers of a row are float64, no loop over its elements.
    """
    found, zero = np.empty((BAND, 3), x.dtype), x.dtype.type(0)
    for first in range(0, len(x), BAND):
        band = x[first : first + BAND]
        for i in range(len(band)):
            row = band[i]
            shift = pilot(row)
            total = squares = zero
            for j in range(len(row)):
                deviation = row[j] - shift
                total += deviation
                squares += deviation * deviation
            mean, variance = moments(row, shift, total, squares)
            found[i, 0], found[i, 1], found[i, 2] = shift, mean, 1 / math.sqrt(variance + eps)
        second_walk(band, found, gamma, beta, y[first : first + BAND])


def layernorm_fused(x, gamma, beta, eps=1e-5, out=None):
    """Layer normalisation along the last axis, in one pass for the sums and one for the result.

        y = gamma * (x - mean) / sqrt(var + eps) + beta
        mean = sum of x / n,  var = sum of (x - mean)**2 / n, both along the last axis

    x     : (..., n) float32 or float64, any stride; not modified; x - mean must fit into its dtype
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    out   : an array of x's shape and dtype, or None for a new one
    returns out
    raises TypeError and ValueError as check_float_array and check_out, ValueError also for a
        gamma or beta that is not (n,), with its name in the message, and for eps that is not > 0

    A row that holds NaN or an infinity is all NaN. No warning escapes. The shift: T. F. Chan,
    G. H. Golub, R. J. LeVeque, Algorithms for Computing the Sample Variance, The American
    Statistician 37(3), 1983.

    >>> layernorm_fused(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    return norm_rows(layernorm_kernel, x, gamma, beta, eps, out)


# Given: as for softmax.
@parallel_kernel
def layernorm_bands(x, gamma, beta, eps, y):
    """layernorm_kernel on bands of rows, which threads share out."""
    for w in prange(BANDS):
        first, last = int(w) * len(x) // BANDS, (int(w) + 1) * len(x) // BANDS
        layernorm_kernel(x[first:last], gamma, beta, eps, y[first:last])


def layernorm_prange(x, gamma, beta, eps=1e-5, out=None):
    """layernorm_fused by all threads that Numba has: its arguments, its errors, its results.

    x     : (..., n) float32 or float64, any stride; not modified
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    out   : an array of x's shape and dtype, or None for a new one
    returns out

    >>> layernorm_prange(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    with one_launch:
        return norm_rows(layernorm_bands, x, gamma, beta, eps, out)


# 07_numba: matmul_prange
@parallel_kernel
def matmul_prange_kernel(a, b, c):
    """c = a b, the rows of c shared out to threads; what stood in c does not count.

    a : (m, k), b : (k, n), c : (m, n), all C-contiguous and of one dtype; only c is changed
    """
    m, n = c.shape
    for i in prange(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]


@parallel_kernel
def column_sums_kernel(x, parts):
    """The sums of the columns of x for each band of rows, one row of parts a band.

        parts[w, j] = sum of x[i, j] over w*m//workers <= i < (w + 1)*m//workers

    x     : (m, n) C-contiguous; not modified
    parts : (workers, n), its dtype; what stood in it does not count
    allocates nothing: the private place of band w is its row of parts
    """
    m, n = x.shape
    workers = len(parts)
    for w in prange(workers):
        band = int(w)
        mine = parts[band]
        mine[:] = 0
        for i in range(band * m // workers, (band + 1) * m // workers):
            for j in range(n):
                mine[j] += x[i, j]


def matmul_prange(a, b, out=None):
    """The product of two matrices by all threads that Numba has.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_prange(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    with one_launch:
        return multiply(matmul_prange_kernel, a, b, out)


def column_sums_prange(x):
    """The sum of each column, by all threads that Numba has.

    x : (m, n) float32 or float64, any stride; not modified
    returns (n,) of x's dtype, a new array; m = 0 gives zeros
    raises TypeError and ValueError as check_float_array

    >>> column_sums_prange(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    columns = check_float_array("x", x, ndim=2)[1]
    parts = np.empty((BANDS, columns), x.dtype)
    with one_launch:
        column_sums_kernel(compiled_form(x), parts)
    return parts.sum(axis=0)

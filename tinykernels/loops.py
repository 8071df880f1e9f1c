# Built from module 02_loops by tito export; edit the module, not this file.
"""Loops: a slow, exact version of every kernel to come."""

import math
import operator

import numpy as np

__all__ = [
    "FLOAT_DTYPES",
    "check_count",
    "check_float_array",
    "check_matmul",
    "conv2d_loops",
    "educational_matmul",
    "layernorm_loops",
    "matmul_loops",
    "relu_loops",
    "softmax_loops",
]


# 02_loops: FLOAT_DTYPES, check_float_array
FLOAT_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def check_float_array(name, x, ndim, dtype=None):
    """The shape of x, if x is an array of floats that a kernel can work on.

    name  : what the caller calls the argument; used in messages
    x     : the argument; only its .dtype, .shape and .ndim are read
    ndim  : the number of axes it must have, or a tuple of allowed numbers; None: one or more
    dtype : the dtype it must have, where another argument has set one
    returns x.shape
    raises TypeError for what is no array of float32 or float64 (in native byte order), or has
        another dtype than asked for; ValueError for another number of axes

    >>> check_float_array("x", np.zeros((2, 3)), ndim=2)
    (2, 3)
    """
    found = getattr(x, "dtype", None)
    if found is None:
        kind = type(x).__name__
        raise TypeError(f"{name} is a {kind}: use np.asarray({name}).astype(np.float32)")
    if found not in FLOAT_DTYPES:
        raise TypeError(f"{name} has dtype {found}: use {name}.astype(np.float32) or np.float64")
    if dtype is not None and found != dtype:
        raise TypeError(f"{name} is {found}, but this call is in {dtype}: use {name}.astype")
    allowed = ndim if isinstance(ndim, tuple) else (ndim,)
    if x.ndim not in allowed and (ndim is not None or x.ndim == 0):
        wanted = " or ".join(str(n) for n in allowed) if ndim is not None else "1 or more"
        raise ValueError(f"{name} has shape {x.shape}, {x.ndim} axes: {wanted} needed")
    return x.shape


# 02_loops: doors
def check_count(name, value, minimum=1):
    """The whole number in `value`, if it is one and large enough.

    name    : what the caller calls the argument; used in messages
    value   : an int or a NumPy integer; bool, float, str and None are refused
    minimum : the smallest value allowed
    returns the value as an int
    raises TypeError for what is no whole number, ValueError for less than minimum; both messages
        name the argument and show the value

    >>> check_count("block", np.int32(16))
    16
    """
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}: use int()") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {count}")
    return count


def check_matmul(a, b):
    """The sizes (m, k, n) of the product of a and b, if they can be multiplied.

    a : (m, k) float32 or float64
    b : (k, n), the dtype of a
    returns (m, k, n)
    raises TypeError for a wrong or mixed dtype, ValueError for a wrong number of axes or inner
        sizes that differ; the last message shows both shapes

    >>> check_matmul(np.zeros((2, 3)), np.zeros((3, 4)))
    (2, 3, 4)
    """
    m, k = check_float_array("a", a, ndim=2)
    inner, n = check_float_array("b", b, ndim=2, dtype=a.dtype)
    if k != inner:
        raise ValueError(
            f"a {a.shape} times b {b.shape}: the inner sizes {k} and {inner} differ; "
            "is one of them transposed?"
        )
    return m, k, n


# 02_loops: relu_loops
def relu_loops(x):
    """Zero in place of every negative element.

        y[i] = 0 if x[i] < 0 else x[i]

    x : (n,) or (m, n) float32 or float64, any stride; not modified; NaN stays NaN
    returns a new array of x's shape and dtype; each element of x is read exactly once
    raises TypeError and ValueError as check_float_array

    >>> relu_loops(np.array([-1.5, 0.0, 2.5]))
    array([0. , 0. , 2.5])
    """
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        value = x[index]
        y[index] = 0 if value < 0 else value
    return y


# 02_loops: matmul_loops
def matmul_loops(a, b):
    """The product of two matrices, by three loops.

        c[i, j] = a[i, 0]*b[0, j] + ... + a[i, k-1]*b[k-1, j]

    a : (m, k) float32 or float64, any stride; not modified
    b : (k, n), the dtype of a
    returns (m, n) of that dtype, a new array; k = 0 gives zeros
    raises TypeError and ValueError as check_matmul

    Sums are kept in float64 and rounded once: N. J. Higham, Accuracy and Stability of Numerical
    Algorithms, 2nd edition, chapter 3.

    >>> matmul_loops(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    return c


educational_matmul = matmul_loops  # the name that other courses and the benchmarks know it by


# 02_loops: softmax_loops
def softmax_loops(x):
    """Softmax of every row.

        y[i, j] = exp(x[i, j] - t) / sum of exp(x[i, q] - t) over q,  t = max of x[i, :]

    x : (m, n) float32 or float64, any stride; not modified
    returns (m, n) of x's dtype, a new array; n = 0 gives (m, 0)
    raises TypeError and ValueError as check_float_array

    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN. No warning escapes.
    Taking off the maximum: P. Blanchard, D. J. Higham, N. J. Higham, Accurately computing the
    log-sum-exp and softmax functions, IMA J. Numer. Anal. 41(4), 2021.

    >>> softmax_loops(np.array([[0.0, 0.0], [1000.0, -np.inf]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        if all(score == -math.inf for score in scores):
            continue
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y


# 02_loops: layernorm_loops
def layernorm_loops(x, gamma, beta, eps=1e-5):
    """Layer normalisation of every row, then a scale and a shift for each column.

        y[i, j] = gamma[j] * (x[i, j] - mean) / sqrt(var + eps) + beta[j]
        mean = sum of x[i, q] / n,  var = sum of (x[i, q] - mean)**2 / n

    x     : (m, n) float32 or float64, any stride; not modified
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    returns (m, n) of x's dtype, a new array; n = 0 gives (m, 0); sums are kept in float64
    raises TypeError and ValueError as check_float_array, ValueError also for a gamma or beta that
        is not (n,), with its name in the message, and for eps that is not > 0

    A row that holds NaN or an infinity is all NaN. J. L. Ba, J. R. Kiros, G. E. Hinton, Layer
    Normalization, arXiv:1607.06450. Two passes: T. F. Chan, G. H. Golub, R. J. LeVeque, Algorithms
    for Computing the Sample Variance, The American Statistician 37(3), 1983.

    >>> layernorm_loops(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    m, n = check_float_array("x", x, ndim=2)
    for name, vector in (("gamma", gamma), ("beta", beta)):
        if check_float_array(name, vector, ndim=1, dtype=x.dtype) != (n,):
            raise ValueError(
                f"{name} has shape {vector.shape}, but x has {n} columns: ({n},) needed"
            )
    if not eps > 0:
        raise ValueError(f"eps must be greater than 0, not {eps}")
    y = np.zeros((m, n), x.dtype)
    for i in range(m if n else 0):
        row = [float(x[i, j]) for j in range(n)]
        mean = sum(row) / n
        variance = sum((value - mean) * (value - mean) for value in row) / n
        root = math.sqrt(variance + eps)
        for j in range(n):
            y[i, j] = float(gamma[j]) * ((row[j] - mean) / root) + float(beta[j])
    return y


# 02_loops: conv2d_loops
def conv2d_loops(x, w, padding=0):
    """Convolution of an image with a bank of filters (cross-correlation: no flip).

        y[f, i, j] = sum over q, u, v of x[q, i + u - padding, j + v - padding] * w[f, q, u, v]

    where terms whose index lies outside the image are left out.

    x       : (c, height, width) float32 or float64, any stride; not modified
    w       : (o, c, r, s), the dtype of x; r, s >= 1; not modified
    padding : int >= 0, zeros on each of the four sides
    returns (o, height + 2*padding - r + 1, width + 2*padding - s + 1) of x's dtype, a new array;
        sums are kept in float64
    raises TypeError and ValueError as check_float_array and check_count, ValueError also for
        another number of channels and for a window larger than the padded image

    Shapes: V. Dumoulin, F. Visin, A guide to convolution arithmetic for deep learning,
    arXiv:1603.07285.

    >>> conv2d_loops(np.array([[[1.0, 2.0, 4.0]]]), np.array([[[[-1.0, 1.0]]]]))
    array([[[1., 2.]]])
    """
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    padding = check_count("padding", padding, minimum=0)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    rows, columns = height + 2 * padding - r + 1, width + 2 * padding - s + 1
    if min(r, s, rows, columns) < 1:
        raise ValueError(f"w {w.shape} does not fit into x {x.shape} with padding {padding}")
    y = np.zeros((o, rows, columns), x.dtype)
    for f, i, j in np.ndindex(o, rows, columns):
        total = 0.0
        for q, u, v in np.ndindex(c, r, s):
            top, left = i + u - padding, j + v - padding
            if 0 <= top < height and 0 <= left < width:
                total += float(x[q, top, left]) * float(w[f, q, u, v])
        y[f, i, j] = total
    return y

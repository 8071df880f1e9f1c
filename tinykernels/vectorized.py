# Built from module 03_vectorize by tito export; edit the module, not this file.
"""Vectorize: NumPy that allocates nothing it does not need."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tinykernels.loops import check_count, check_float_array, check_matmul

__all__ = [
    "check_out",
    "conv2d_im2col",
    "im2col",
    "layernorm",
    "matmul_baseline",
    "optimized_matmul",
    "softmax",
    "vectorized_matmul",
    "vectorized_operations",
    "vectorized_relu",
]


# 03_vectorize: check_out, matmul_baseline, optimized_matmul
def check_out(out, shape, x, *others):
    """An array to write a result into: `out` itself if it fits, a new one if it is None.

    out       : what the caller passed
    shape     : the shape of the result
    x, others : the inputs, all of one dtype, which is the dtype of the result
    returns out, or a new array with anything in it
    raises TypeError for what is no array; ValueError for another shape or dtype, a read-only
        array, and one that shares memory with an input

    >>> check_out(None, (2, 3), np.zeros(3)).shape
    (2, 3)
    """
    if out is None:
        return np.empty(shape, x.dtype)
    if getattr(out, "dtype", None) is None:
        raise TypeError(f"out is a {type(out).__name__}: pass an array or None")
    if out.shape != shape or out.dtype != x.dtype:
        raise ValueError(f"out is {out.dtype} {out.shape}, the result is {x.dtype} {shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    arrays = isinstance(out, np.ndarray) and isinstance(x, np.ndarray)
    if arrays and np.shares_memory(out, x):
        raise ValueError("out shares memory with an input: it would change while it is read")
    return check_out(out, shape, *others) if others else out


def matmul_baseline(a, b, out=None):
    """The product of two matrices by NumPy's `@`, which hands it to a BLAS.

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a
    out : (m, n) of that dtype, or None for a new array
    returns out
    raises TypeError and ValueError as check_matmul and check_out

    >>> matmul_baseline(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    return np.matmul(a, b, out=out)


optimized_matmul = matmul_baseline  # the name that other courses and the benchmarks know it by


# 03_vectorize: vectorized_relu
def vectorized_relu(x, out=None):
    """Zero in place of every negative element.

        y[...] = 0 where x[...] < 0, else x[...]

    x   : float32 or float64, one axis or more, any stride; not modified; NaN stays NaN
    out : an array of x's shape and dtype, or None for a new one
    returns out; with out= the call allocates nothing of x's shape, not even a mask
    raises TypeError and ValueError as check_float_array and check_out

    >>> vectorized_relu(np.array([[-1.5, 0.0], [2.5, -np.inf]]))
    array([[0. , 0. ],
           [2.5, 0. ]])
    """
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    return np.maximum(x, 0, out=out)


# 03_vectorize: vectorized_operations
def vectorized_operations(x, y):
    """Five results from two arrays of one shape.

    x : float32 or float64, one axis or more, any stride; not modified
    y : the shape and dtype of x; not modified
    returns a dictionary
        "element_wise_multiply"  x * y                    new arrays of the shape and dtype of x
        "element_wise_add"       x + y
        "squared_difference"     (x - y)**2
        "euclidean_distance"     sqrt(sum of (x - y)**2)  Python floats over all elements
        "dot_product"            sum of x * y
    raises TypeError and ValueError as check_float_array, ValueError also for shapes that differ:
        nothing is broadcast, and the message shows both

    >>> vectorized_operations(np.array([3.0, 0.0]), np.array([0.0, 4.0]))["euclidean_distance"]
    5.0
    """
    shape = check_float_array("x", x, ndim=None)
    if check_float_array("y", y, ndim=None, dtype=x.dtype) != shape:
        raise ValueError(f"x is {x.shape} and y is {y.shape}: the shapes must be equal")
    squares = np.subtract(x, y)
    squares *= squares
    return {
        "element_wise_multiply": np.multiply(x, y),
        "element_wise_add": np.add(x, y),
        "squared_difference": squares,
        "euclidean_distance": float(np.sqrt(squares.sum())),
        "dot_product": float(np.vdot(x, y)),
    }


# 03_vectorize: vectorized_matmul
def vectorized_matmul(a, b, out=None):
    """The product of two matrices as a sum of outer products.

        c = sum over p of  a[:, p] (m, 1)  times  b[p, :] (1, n)

    a   : (m, k) float32 or float64, any stride; not modified
    b   : (k, n), the dtype of a; not modified
    out : (m, n) of that dtype, or None for a new array; what stood in it does not count
    returns out; k = 0 gives zeros; at its peak the call holds two arrays of the result's size
    raises TypeError and ValueError as check_matmul and check_out

    >>> vectorized_matmul(np.array([[1.0, 2.0]]), np.array([[3.0, 0.5], [4.0, 1.0]]))
    array([[11. ,  2.5]])
    """
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out


# 03_vectorize: softmax
def softmax(x, axis=-1, out=None):
    """Softmax along one axis.

        y = exp(x - t) / sum of exp(x - t),  t = max of x, both along the axis

    x    : float32 or float64, one axis or more, any stride; not modified
    axis : the axis along which the weights add up to 1
    out  : an array of x's shape and dtype, or None for a new one
    returns out; beside it the call holds no other array of x's size
    raises TypeError and ValueError as check_float_array and check_out

    A row of only -inf gives zeros. A row that holds NaN or +inf is all NaN. No warning escapes.
    Taking off the maximum: P. Blanchard, D. J. Higham, N. J. Higham, Accurately computing the
    log-sum-exp and softmax functions, IMA J. Numer. Anal. 41(4), 2021.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, -np.inf]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        np.subtract(x, top, out=out)
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        out /= total
    return out


# 03_vectorize: layernorm
def layernorm(x, gamma, beta, eps=1e-5, out=None):
    """Layer normalisation along the last axis, then a scale and a shift for each column.

        y = gamma * (x - mean) / sqrt(var + eps) + beta
        mean = sum of x / n,  var = sum of (x - mean)**2 / n, both along the last axis

    x     : (..., n) float32 or float64, any stride; not modified; x - mean must fit into its dtype
    gamma : (n,), the dtype of x
    beta  : (n,), the dtype of x
    eps   : a number > 0
    out   : an array of x's shape and dtype, or None for a new one
    returns out; beside it the call holds no other array of x's size; mean and var are kept in
        float64; n = 0 gives an empty array
    raises TypeError and ValueError as check_float_array and check_out, ValueError also for a
        gamma or beta that is not (n,), with its name in the message, and for eps that is not > 0

    A row that holds NaN or an infinity is all NaN. No warning escapes. J. L. Ba, J. R. Kiros,
    G. E. Hinton, Layer Normalization, arXiv:1607.06450.

    >>> layernorm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    array([[-0.5,  0.5]])
    """
    n = check_float_array("x", x, ndim=None)[-1]
    if check_float_array("gamma", gamma, ndim=1, dtype=x.dtype) != (n,):
        raise ValueError(f"gamma has shape {gamma.shape}, but the rows of x have {n} elements")
    if check_float_array("beta", beta, ndim=1, dtype=x.dtype) != (n,):
        raise ValueError(f"beta has shape {beta.shape}, but the rows of x have {n} elements")
    if not eps > 0:
        raise ValueError(f"eps must be greater than 0, not {eps}")
    out = check_out(out, x.shape, x, gamma, beta)
    with np.errstate(all="ignore"):
        mean = x.sum(axis=-1, keepdims=True, dtype=np.float64) / max(n, 1)
        np.subtract(x, mean, out=out)
        squares = np.einsum("...i,...i->...", out, out, dtype=np.float64)
        out /= np.sqrt(squares[..., None] / max(n, 1) + eps)
        out *= gamma
        out += beta
    return out


# 03_vectorize: im2col
def im2col(x, r, s, padding=0):
    """Every window of an image as a column.

        result[(q*r + u)*s + v, i*columns + j] = x[q, i + u - padding, j + v - padding]

    with 0 where the index lies outside the image.

    x       : (c, height, width) float32 or float64, any stride; not modified
    r, s    : rows and columns of the window, int >= 1
    padding : int >= 0, zeros on each of the four sides
    returns (c*r*s, rows*columns) of x's dtype, a new C-contiguous writeable array, with
        rows = height + 2*padding - r + 1 and columns = width + 2*padding - s + 1
    raises TypeError and ValueError as check_float_array and check_count, ValueError also for a
        window larger than the padded image

    K. Chellapilla, S. Puri, P. Simard, High Performance Convolutional Neural Networks for
    Document Processing, 2006.

    >>> im2col(np.array([[[1.0, 2.0, 3.0, 4.0]]]), r=1, s=2)
    array([[1., 2., 3.],
           [2., 3., 4.]])
    """
    c, height, width = check_float_array("x", x, ndim=3)
    r, s = check_count("r", r), check_count("s", s)
    padding = check_count("padding", padding, minimum=0)
    rows, columns = height + 2 * padding - r + 1, width + 2 * padding - s + 1
    if min(rows, columns) < 1:
        raise ValueError(f"a window of {r} x {s} does not fit into x {x.shape}, padding {padding}")
    padded = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(padded, (r, s), axis=(1, 2))
    ordered = windows.transpose(0, 3, 4, 1, 2).copy()
    return ordered.reshape(c * r * s, rows * columns)


# 03_vectorize: conv2d_im2col
def conv2d_im2col(x, w, padding=0):
    """Convolution of an image with a bank of filters, as one matrix product.

        y[f, i, j] = sum over q, u, v of x[q, i + u - padding, j + v - padding] * w[f, q, u, v]

    where terms whose index lies outside the image are left out (cross-correlation: no flip).

    x       : (c, height, width) float32 or float64, any stride; not modified
    w       : (o, c, r, s), the dtype of x; r, s >= 1; not modified
    padding : int >= 0, zeros on each of the four sides
    returns (o, height + 2*padding - r + 1, width + 2*padding - s + 1) of x's dtype, a new array
    raises TypeError and ValueError as check_float_array and im2col, ValueError also for another
        number of channels; its message names both numbers

    >>> conv2d_im2col(np.array([[[1.0, 2.0, 4.0]]]), np.array([[[[-1.0, 1.0]]]]))
    array([[[1., 2.]]])
    """
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    columns = im2col(x, r, s, padding)
    y = matmul_baseline(w.reshape(o, c * r * s), columns)
    return y.reshape(o, height + 2 * padding - r + 1, width + 2 * padding - s + 1)

# Built from module 09_quantize by tito export; edit the module, not this file.
"""Quantize: weights of eight bits, and of four."""

import operator

import numpy as np

from tinykernels.loops import check_float_array

__all__ = [
    "BLOCK",
    "LARGEST_HALF",
    "MOST_TERMS",
    "TINY",
    "check_axis",
    "check_bytes",
    "check_int8_matmul",
    "check_q4",
    "check_scale",
    "dequantize",
    "dequantize_affine",
    "finite_floats",
    "int8_matmul",
    "pack_q4",
    "quantize",
    "quantize_affine",
    "quantized_matmul",
    "quantized_relu",
    "round_to_int8",
    "unpack_q4",
]


# 09_quantize: TINY, finite_floats, check_scale
TINY = np.finfo(np.float32).tiny  # the smallest float32 with all its digits, about 1e-38


def finite_floats(name, x, ndim=None):
    """The values of x as float32, if all are finite.

    name : what the caller calls the argument; used in messages
    x    : float32 or float64 array; float64 is rounded to float32
    ndim : the number of axes it must have; None: one or more
    returns x itself if it is float32, else a new array
    raises TypeError and ValueError as check_float_array, ValueError for NaN and infinity, and for
        what is too large for float32
    """
    check_float_array(name, x, ndim=ndim)
    with np.errstate(over="ignore"):
        y = x.astype(np.float32, copy=False)
    if not np.isfinite(y).all():
        raise ValueError(f"{name} has NaN, infinity or a number too large for float32")
    return y


def check_scale(name, scale, count=None):
    """The scale as float32: one positive finite number, or an array of `count` of them.

    raises TypeError for what is no number, ValueError for another shape or a number that is zero,
        negative, NaN, or infinite in float32
    """
    values = np.asarray(scale)
    if values.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be a number, not {scale!r}")
    if values.shape not in ((), (count,)):
        wanted = "a number" if count is None else f"a number or an array of {count}"
        raise ValueError(f"{name} has shape {values.shape}: {wanted} needed")
    with np.errstate(over="ignore", under="ignore"):
        values = values.astype(np.float32)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"{name} must be positive and finite in float32, not {scale!r}")
    return values[()]


def check_axis(axis, ndim):
    """The axis as a number from 0 to ndim - 1; -1 is the last one.

    raises TypeError for what is no whole number, ValueError for an axis that is not there
    """
    if isinstance(axis, bool):
        raise TypeError(f"axis must be a whole number, not {axis!r}")
    try:
        place = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis must be a whole number, not {axis!r}") from None
    if not -ndim <= place < ndim:
        raise ValueError(f"axis {axis} of an array with {ndim} axes")
    return place % ndim


def check_bytes(name, q, ndim=None, dtype=np.int8):
    """The shape of q, if it is an array of int8 (or of `dtype`).

    raises TypeError for another dtype and for lists, ValueError for another number of axes
    """
    found = getattr(q, "dtype", None)
    if found is None:
        raise TypeError(f"{name} is a {type(q).__name__}: pass an array of {np.dtype(dtype)}")
    if found != dtype:
        raise TypeError(f"{name} is {found}: {np.dtype(dtype)} needed")
    if q.ndim != ndim and (ndim is not None or q.ndim == 0):
        raise ValueError(f"{name} has shape {q.shape}: {ndim or '1 or more'} axes needed")
    return q.shape


# 09_quantize: quantize
def round_to_int8(x, scale):
    """The nearest whole number of steps, no further than 127 from 0.

        q = clip(rint(x / scale), -127, 127)

    x     : finite float32 array; not modified
    scale : float32, a number or an array that broadcasts against x
    returns a new int8 array of x's shape; from the middle between two numbers to the even one

    >>> round_to_int8(np.float32([0.5, 1.5, 400.0]), np.float32(1))
    array([  0,   2, 127], dtype=int8)
    """
    with np.errstate(over="ignore"):  # x / scale may be infinite: the clip brings it back
        steps = np.rint(x / scale)
        return np.clip(steps, -127, 127).astype(np.int8)


def quantize(x, axis=None):
    """Floats as whole numbers of steps from -127 to 127.

        scale = max(largest / 127, TINY), where largest = max |x|; 1 where largest is 0
        q = round_to_int8(x, scale)

    x    : float32 or float64, one axis or more, any stride; not modified
    axis : None for one scale, or the axis each index of which has a scale of its own
    returns (q, scale): int8 array of x's shape, and np.float32 or a float32 array (x.shape[axis],)
    raises TypeError and ValueError as finite_floats and check_axis

    >>> quantize(np.array([0.0, -2.54, 1.0]))
    (array([   0, -127,   50], dtype=int8), np.float32(0.02))
    """
    x = finite_floats("x", x)
    rest = None  # the axes over which the largest is looked for
    if axis is not None:
        axis = check_axis(axis, x.ndim)
        rest = tuple(i for i in range(x.ndim) if i != axis)
    largest = np.max(np.abs(x), axis=rest, keepdims=True, initial=0)
    scale = np.maximum(largest / np.float32(127), TINY)
    scale[largest == 0] = 1
    q = round_to_int8(x, scale)
    return q, np.float32(scale.item()) if axis is None else scale.reshape(-1)


def dequantize(q, scale, axis=None):
    """What the whole numbers stand for: q * scale.

    q     : int8, one axis or more; not modified
    scale : positive number; or, with an axis, a number or one for each index along it
    axis  : as in quantize
    returns a new float32 array of q's shape
    raises TypeError and ValueError as check_bytes, check_axis and check_scale

    >>> dequantize(np.array([[1, -2]], np.int8), np.array([0.5, 2.0]), axis=1)
    array([[ 0.5, -4. ]], dtype=float32)
    """
    shape = check_bytes("q", q)
    if axis is not None:
        axis = check_axis(axis, q.ndim)
    scale = check_scale("scale", scale, None if axis is None else shape[axis])
    if scale.ndim:
        along = [1] * q.ndim
        along[axis] = -1
        scale = scale.reshape(along)
    return q * scale


# 09_quantize: quantize_affine
def quantize_affine(x):
    """Floats as whole numbers of steps from 0 to 255, with 0.0 exactly on the grid.

        scale = max((high - low) / 255, TINY) with low = min(x, 0), high = max(x, 0)
                over all of x; 1 where both are 0
        zero = rint(-low / scale)
        q = clip(rint(x / scale) + zero, 0, 255)

    x : float32 or float64, one axis or more, any stride; not modified
    returns (q, scale, zero): uint8 array of x's shape, np.float32, int from 0 to 255
    raises TypeError and ValueError as finite_floats

    >>> quantize_affine(np.array([-1.0, 0.0, 1.55]))
    (array([  0, 100, 255], dtype=uint8), np.float32(0.01), 100)
    """
    x = finite_floats("x", x)
    low, high = float(x.min(initial=0)), float(x.max(initial=0))
    scale = np.float32(max((high - low) / 255, TINY))
    if low == high:
        scale = np.float32(1)
    zero = round(-low / float(scale))
    q = np.clip(np.rint(x / scale) + np.float32(zero), 0, 255)
    return q.astype(np.uint8), scale, zero


def dequantize_affine(q, scale, zero):
    """What the whole numbers stand for: (q - zero) * scale.

    q     : uint8, one axis or more; not modified
    scale : positive number
    zero  : int from 0 to 255
    returns a new float32 array of q's shape
    raises TypeError and ValueError as check_bytes and check_scale

    >>> dequantize_affine(np.array([0, 100, 255], np.uint8), 0.01, 100)
    array([-1.  ,  0.  ,  1.55], dtype=float32)
    """
    check_bytes("q", q, dtype=np.uint8)
    scale = check_scale("scale", scale)
    return (q.astype(np.float32) - np.float32(zero)) * scale


# 09_quantize: int8_matmul
MOST_TERMS = 131_071  # 131,072 times 128 * 128 is 2^31, one more than an int32 can hold


def check_int8_matmul(a, b):
    """The sizes (m, k, n) of the product of two int8 matrices.

    raises TypeError and ValueError as check_bytes, ValueError for inner sizes that differ or are
        larger than MOST_TERMS
    """
    m, k = check_bytes("a", a, ndim=2)
    inner, n = check_bytes("b", b, ndim=2)
    if k != inner:
        raise ValueError(f"a {a.shape} times b {b.shape}: the inner sizes {k} and {inner} differ")
    if k > MOST_TERMS:
        raise ValueError(f"{k} products of -128 * -128 may be 2^31: at most {MOST_TERMS} of them")
    return m, k, n


def int8_matmul(a, b):
    """The exact product of two matrices of bytes.

        c[i, j] = sum over p of a[i, p] * b[p, j]

    a : (m, k) int8, any stride; not modified
    b : (k, n) int8
    returns (m, n) int32, a new array; k = 0 gives zeros
    raises TypeError and ValueError as check_int8_matmul

    >>> int8_matmul(np.array([[-128, -128]], np.int8), np.array([[-128], [-128]], np.int8))
    array([[32768]], dtype=int32)
    """
    m, k, n = check_int8_matmul(a, b)
    total = np.zeros((m, n), np.int32)
    for p in range(0, k, 1024):
        part_a, part_b = a[:, p : p + 1024], b[p : p + 1024]
        part = part_a.astype(np.float32) @ part_b.astype(np.float32)
        total += part.astype(np.int32)
    return total


def quantized_matmul(A, B, scale_A=1.0, scale_B=1.0):
    """The product of two float matrices by way of int8.

        q_A = round_to_int8(A, scale_A), q_B likewise
        C[i, j] = scale_A * scale_B[j] * sum over p of q_A[i, p] * q_B[p, j]

    A       : (m, k) float32 or float64; not modified
    B       : (k, n) float32 or float64
    scale_A : positive number. With 1.0 A is rounded to whole numbers and clipped at +-127
    scale_B : positive number, or one for each column of B: shape (n,)
    returns (m, n) float32, a new array
    raises TypeError and ValueError as finite_floats, check_scale and check_int8_matmul

    >>> quantized_matmul(np.array([[0.5, 200.0]]), np.array([[1.0], [0.4]]), scale_B=0.1)
    array([[50.800003]], dtype=float32)
    """
    A, B = finite_floats("A", A, ndim=2), finite_floats("B", B, ndim=2)
    scale_A, scale_B = check_scale("scale_A", scale_A), check_scale("scale_B", scale_B, B.shape[1])
    total = int8_matmul(round_to_int8(A, scale_A), round_to_int8(B, scale_B))
    return (total * (np.float64(scale_A) * scale_B)).astype(np.float32)


# 09_quantize: quantized_relu
def quantized_relu(x, scale=1.0):
    """ReLU on the int8 grid of a scale.

        y = scale * max(round_to_int8(x, scale), 0)

    x     : float32 or float64, one axis or more, any stride; not modified
    scale : positive number. With 1.0 x is rounded to whole numbers and clipped at 127
    returns a new float32 array of x's shape
    raises TypeError and ValueError as finite_floats and check_scale

    >>> quantized_relu(np.array([-3.0, 0.4, 200.0]), scale=0.5)
    array([ 0. ,  0.5, 63.5], dtype=float32)
    """
    x = finite_floats("x", x)
    scale = check_scale("scale", scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return q * scale


# 09_quantize: pack_q4
BLOCK = 32  # weights that share a step and a minimum
LARGEST_HALF = 65504.0  # the largest float16


def check_q4(nibbles, d, m):
    """(n, blocks) of weights in four bits.

    raises TypeError for other dtypes than uint8 and float16, ValueError for shapes that do not fit
    """
    n, blocks, half = check_bytes("nibbles", nibbles, ndim=3, dtype=np.uint8)
    if half != BLOCK // 2:
        raise ValueError(f"nibbles has shape {nibbles.shape}: {BLOCK // 2} bytes a block needed")
    for name, x in (("d", d), ("m", m)):
        if check_bytes(name, x, ndim=2, dtype=np.float16) != (n, blocks):
            raise ValueError(f"{name} has shape {x.shape}, nibbles {nibbles.shape}")
    return n, blocks


def pack_q4(w):
    """Weights in four bits each, in blocks of 32 along a row, as in the format Q4_1.

        d = float16((max - min) / 15) and m = float16(min) of the block
        q = clip(rint((w - m) / d), 0, 15), with d and m as rounded; 0 where d is 0
        nibbles[row, block, i] = q[i] + 16 * q[16 + i]

    w : (n, k) float32 or float64, k a multiple of 32; not modified
    returns (nibbles, d, m): uint8 (n, k / 32, 16), float16 (n, k / 32), float16 (n, k / 32)
    raises TypeError and ValueError as finite_floats, ValueError for another k and for numbers
        beyond the range of float16

    >>> nibbles, d, m = pack_q4(np.arange(32.0)[None] / 2)
    >>> nibbles[0, 0, :3].tolist(), float(m[0, 0])
    ([128, 128, 145], 0.0)
    """
    w = finite_floats("w", w, ndim=2)
    n, k = w.shape
    if k % BLOCK:
        raise ValueError(f"w has {k} columns: a multiple of {BLOCK} needed")
    if np.abs(w).max(initial=0) > LARGEST_HALF:
        raise ValueError(f"w has numbers beyond {LARGEST_HALF:.0f}, float16's largest")
    blocks = w.reshape(n, k // BLOCK, BLOCK)
    least = blocks.min(axis=2, initial=LARGEST_HALF)
    span = blocks.max(axis=2, initial=-LARGEST_HALF) - least
    d, m = (span / np.float32(15)).astype(np.float16), least.astype(np.float16)
    step = np.where(d == 0, np.float32(np.inf), d.astype(np.float32))[..., None]
    steps = (blocks - m.astype(np.float32)[..., None]) / step
    q = np.clip(np.rint(steps), 0, 15).astype(np.uint8)
    return q[..., :16] | q[..., 16:] << 4, d, m


def unpack_q4(nibbles, d, m):
    """The weights that were packed: d * q + m.

    nibbles, d, m : as pack_q4 gives them; not modified
    returns a new float32 array (n, 32 * blocks)
    raises TypeError and ValueError as check_q4

    >>> nibbles = np.full((1, 1, 16), 0x31, np.uint8)
    >>> unpack_q4(nibbles, np.float16([[0.5]]), np.float16([[-1]]))[0, 14:18]
    array([-0.5, -0.5,  0.5,  0.5], dtype=float32)
    """
    n, blocks = check_q4(nibbles, d, m)
    q = np.concatenate([nibbles & 15, nibbles >> 4], axis=2).astype(np.float32)
    d, m = (x.astype(np.float32)[..., None] for x in (d, m))
    return (q * d + m).reshape(n, BLOCK * blocks)

# Built from module 09_quantize by tito export; edit the module, not this file.
"""Quantize: weights of eight bits, and of four."""

import functools
import linecache
import operator
from typing import NamedTuple

import numpy as np

from tinykernels.jit import kernel
from tinykernels.loops import check_float_array
from tinykernels.simd.ints import (
    fetch,
    half_bytes,
    iadd,
    ibcast,
    ifloat,
    ihalf,
    iload,
    istore,
    izero,
    vdp4,
)
from tinykernels.simd.packing import aligned_empty
from tinykernels.simd.vec import REGISTERS, VL, vbcast, vfma, vstore, vzero

__all__ = [
    "BLOCK",
    "BLOCK_BYTES",
    "FOUR",
    "LARGE_RESULT",
    "LOW_BITS",
    "LOW_TILE_INT8",
    "MOST_HALF",
    "MOST_TERMS",
    "PANEL_INT8",
    "TILE_INT8",
    "TINY",
    "GroupedQ4",
    "PackedK4",
    "check_axis",
    "check_bytes",
    "check_int8_matmul",
    "check_lanes",
    "check_q4",
    "check_scale",
    "dequantize",
    "dequantize_affine",
    "finite_floats",
    "gemm_int8",
    "group_q4",
    "int8_matmul",
    "interleave_q4",
    "macro_kernel_int8",
    "matvec_q4",
    "matvec_q4_bytes",
    "matvec_q4_bytes_kernel",
    "matvec_q4_rows",
    "multiply_bytes",
    "multiply_plain",
    "pack_k4",
    "pack_q4",
    "q4_kernel",
    "q4_row_by_row",
    "quantize",
    "quantize_affine",
    "quantize_blocks",
    "quantized_matmul",
    "quantized_relu",
    "round_to_int8",
    "side_by_side",
    "stack_rows",
    "ukernel_int8",
    "ukernel_int8_source",
    "unpack_q4",
    "vector_for",
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
        raise ValueError(f"the shape of {name} is {values.shape}: {wanted} needed")
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
        raise ValueError(f"the shape of {name} is {q.shape}: {ndim or '1 or more'} axes needed")
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
    return q, np.float32(scale.item()) if axis is None else scale.ravel()


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
        along[axis] = scale.size
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


# 09_quantize: MOST_TERMS, check_int8_matmul
MOST_TERMS = 131_071  # 131,072 times 128 * 128 is 2^31, one more than an int32 can hold


def check_int8_matmul(a, b):
    """The sizes (m, k, n) of the product of two int8 matrices.

    raises TypeError and ValueError as check_bytes, ValueError for inner sizes that differ or are
        larger than MOST_TERMS
    """
    (m, k), (inner, n) = check_bytes("a", a, ndim=2), check_bytes("b", b, ndim=2)
    if k != inner:
        raise ValueError(f"b has {inner} rows, but a has {k} columns: {a.shape} times {b.shape}")
    if k > MOST_TERMS:
        raise ValueError(f"{k} products of -128 * -128 may be 2^31: at most {MOST_TERMS} of them")
    return m, k, n


# 09_quantize: int8_matmul
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
    array([[50.8]], dtype=float32)
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


# 09_quantize: TILE_INT8, LOW_TILE_INT8, PANEL_INT8
# Rows of a tile, and registers that a row of it takes; the lower one for few rows.
TILE_INT8, LOW_TILE_INT8 = ((8, 2), (4, 2)) if REGISTERS == 32 else ((6, 2), (4, 2))
PANEL_INT8 = TILE_INT8[1] * VL  # columns of B side by side
BLOCK_BYTES = 2**18  # of A, multiplied at a time: they stay in the second cache
LARGE_RESULT = 2**16  # numbers


# 09_quantize: ukernel_int8_source, ukernel_int8, stack_rows
def ukernel_int8_source(mr, nv, name="ukernel"):
    """The text of a microkernel name(pa, pb, kc, start, c, ic, ldc), as in 08 but of integers.

        c[ic + r * ldc + s] = start[s] + sum over p < kc, q < 4 of
                              byte q of pa[mr * p + r] times byte q of pb[nv * VL * p + s]
        for r < mr and s < nv * VL

    C is written and never read: no other call adds to it, because the inner size is not cut into
    blocks. Its cache lines are asked for before the sums begin, so they are there at the end.
    """
    places = {(r, v): f"ic + ldc * {r} + {v * VL}" for r, v in np.ndindex(mr, nv)}
    head = f"def {name}(pa, pb, kc, start, c, ic, ldc):"
    lines = [head]
    lines += [f"    fetch(c, {place})" for place in places.values()]
    lines += [f"    s{r}_{v} = iload(start, {v * VL})" for r, v in places]
    lines.append("    for p in range(kc):")
    for v in range(nv):
        lines.append(f"        b{v} = iload(pb, {v * VL} + {nv * VL} * p)")
    for r, v in places:
        if v == 0:
            lines.append(f"        a = ibcast(pa, {r} + {mr} * p)")
        lines.append(f"        s{r}_{v} = vdp4(a, b{v}, s{r}_{v})")
    lines += [f"    istore(c, {place}, s{r}_{v})" for (r, v), place in places.items()]
    return "\n".join(lines)


@functools.cache
def ukernel_int8(mr, nv):
    """The compiled microkernel for a tile of mr rows and nv registers."""
    text, file = ukernel_int8_source(mr, nv), f"<ukernel_int8 {mr} x {nv}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"iload": iload, "ibcast": ibcast, "vdp4": vdp4, "istore": istore, "fetch": fetch}
    exec(compile(text, file, "exec"), space)
    return kernel(space["ukernel"])


@kernel
def stack_rows(lanes, panels):
    """The rows of a matrix in panels: panels[q, p, r] = lanes[height * q + r, p].

    lanes  : (m, k) contiguous int32
    panels : (ceil(m / height), k, height) contiguous int32; changed, but not where no row is
    """
    height = panels.shape[2]
    for i in range(len(lanes)):
        row, panel, r = lanes[i], panels[i // height], i % height
        for p in range(len(row)):
            panel[p, r] = row[p]


@functools.cache
def macro_kernel_int8(mr, nv):
    """The compiled loops over all tiles of C.

    returns tiles(lanes, panels, start, c, rows), which writes start + product to c:

        lanes  : (m, k) contiguous int32, four bytes in each
        panels : (ceil(n / nr), k, nr) int32, columns side by side, nr = nv * VL
        start  : (n,) int32
        c      : (m, n) contiguous int32
        rows   : how many of A are stacked at a time, a multiple of mr
    """
    tile, nr = ukernel_int8(mr, nv), nv * VL

    @kernel
    def tiles(lanes, panels, start, c, rows):
        m, n = c.shape
        k, flat, columns = lanes.shape[1], c.reshape(-1), panels.reshape(-1)
        stacks = np.empty((rows // mr, k, mr), np.int32)
        stacked = stacks.reshape(-1)
        edge, first = np.empty(mr * nr, np.int32), np.empty(nr, np.int32)
        for top in range(0, m, rows):
            stack_rows(lanes[top : top + rows], stacks)
            for t in range(len(panels)):
                j = nr * t
                panel, wide = columns[j * k :], min(nr, n - j)
                for s in range(wide):  # an assignment of slices takes seconds to compile
                    first[s] = start[j + s]
                for i in range(top, min(m, top + rows), mr):
                    whole = i + mr <= m and wide == nr
                    if whole:
                        target, at, ldc = flat, i * n + j, n
                    else:
                        target, at, ldc = edge, 0, nr
                    tile(stacked[(i - top) * k :], panel, k, first, target, at, ldc)
                    if not whole:
                        high = min(mr, m - i)
                        for q in range(high * wide):
                            r, s = divmod(q, wide)
                            flat[(i + r) * n + j + s] = edge[r * nr + s]

    return tiles


def check_lanes(lanes, packed, start):
    """(lanes, start) as contiguous int32; compiled code would read beyond what does not fit.

    raises TypeError and ValueError for another dtype or shape than multiply_bytes asks for
    """
    k4, n = packed.panels.shape[1], packed.shape[1]
    _, found = check_bytes("lanes", lanes, ndim=2, dtype=np.int32)
    if found != k4 or np.shape(start) != (n,):
        raise ValueError(
            f"lanes {lanes.shape} and start {np.shape(start)}: (m, {k4}) and ({n},) are needed"
        )
    return np.ascontiguousarray(lanes), np.ascontiguousarray(start, np.int32)


def multiply_bytes(lanes, packed, start):
    """start plus the product of the rows in `lanes` with a packed matrix.

    lanes : (m, ceil(k / 4)) int32, each four bytes of 0 to 255
    start : (n,) int32, added to each row
    returns (m, n) int32
    """
    lanes, start = check_lanes(lanes, packed, start)
    m, k4 = lanes.shape
    mr, nv = TILE_INT8 if m > LOW_TILE_INT8[0] else LOW_TILE_INT8
    most = max(1, BLOCK_BYTES // max(1, 4 * k4 * mr))
    rows = max(1, min(most, -(-m // mr))) * mr
    # A large result begins at a cache line, so that no vector lies across two.
    shape = m, packed.shape[1]
    large = m * packed.shape[1] > LARGE_RESULT
    c = aligned_empty(shape).view(np.int32) if large else np.empty(shape, np.int32)
    macro_kernel_int8(mr, nv)(lanes, packed.panels, start, c, rows)
    return c


def multiply_plain(lanes, packed, start):
    """What multiply_bytes gives, by NumPy: slow, and nothing is compiled. For tests."""
    lanes, start = check_lanes(lanes, packed, start)
    total = np.empty((len(lanes), packed.shape[1]), np.int32)
    total[:] = start
    columns = np.concatenate([*packed.panels, lanes[:0].T], axis=1)[:, : packed.shape[1]]
    for q in range(4):
        left = lanes >> 8 * q & 255
        right = (columns << 24 - 8 * q) >> 24
        for p in range(len(columns)):
            total += left[:, p, None] * right[p]
    return total


def side_by_side(lanes, width):
    """The columns of a matrix in panels of so many: (k, n) int32 -> (ceil(n / width), k, width).

    Columns that do not exist are zeros.
    """
    k, n = lanes.shape
    panels = aligned_empty((-(-n // width), k, width)).view(np.int32)
    panels[-1:] = 0
    full = n - n % width
    panels[: n // width] = lanes[:, :full].reshape(k, n // width, width).swapaxes(0, 1)
    panels[n // width :, :, : n % width] = lanes[:, full:]
    return panels


class PackedK4:
    """An int8 matrix of shape (k, n), packed for gemm_int8.

    panels : (ceil(n / PANEL_INT8), ceil(k / 4), PANEL_INT8) int32, columns side by side
    sums   : (n,) int32, the sum of each column
    """

    ndim, dtype = 2, np.dtype(np.int8)

    def __init__(self, lanes, b):
        """lanes : (ceil(k / 4), n) int32, in each number the bytes of four k, the first lowest."""
        self.shape = b.shape
        self.panels = side_by_side(lanes, PANEL_INT8)
        self.sums = b.sum(axis=0, dtype=np.int32)


# 09_quantize: gemm_int8
def pack_k4(b):
    """A matrix of bytes packed once, for any number of products: gemm_int8(a, pack_k4(b)).

        lanes[p, j] = the bytes of b[4 p, j], b[4 p + 1, j], b[4 p + 2, j], b[4 p + 3, j]
                      as one int32, the first of them lowest; zeros where b has no more rows

    b : (k, n) int8, any stride; copied
    returns a PackedK4
    raises TypeError and ValueError as check_bytes

    >>> pack_k4(np.array([[1], [2], [-1]], np.int8)).panels[0, 0, 0]
    np.int32(16712193)
    """
    k, n = check_bytes("b", b, ndim=2)
    rows = np.zeros((-(-k // 4) * 4, n), np.int32)
    rows[:k] = b
    rows &= 255
    lanes = rows[0::4] | rows[1::4] << 8 | rows[2::4] << 16 | rows[3::4] << 24
    return PackedK4(lanes, b)


def gemm_int8(a, b, plain=False):
    """The exact product of two matrices of bytes, four of them in a lane.

        c[i, j] = sum over p of a[i, p] * b[p, j]

    a     : (m, k) int8, any stride; not modified
    b     : (k, n) int8, any stride, or pack_k4 of it; not modified
    plain : True for multiply_plain in place of multiply_bytes: the same, with nothing compiled
    returns (m, n) int32, a new array; k = 0 gives zeros
    raises TypeError and ValueError as check_int8_matmul

    >>> gemm_int8(np.array([[-128, -128]], np.int8), np.array([[-128], [-128]], np.int8))
    array([[32768]], dtype=int32)
    """
    m, k, _ = check_int8_matmul(a, b)
    packed = b if isinstance(b, PackedK4) else pack_k4(b)
    multiply = multiply_plain if plain else multiply_bytes
    lanes = np.empty((m, -(-k // 4)), np.int32)
    np.bitwise_xor(a.view(np.uint8), 128, out=lanes.view(np.uint8)[:, :k])
    return multiply(lanes, packed, -128 * packed.sums)


# 09_quantize: BLOCK, MOST_HALF, check_q4
BLOCK = 32  # weights that share a step and a minimum
MOST_HALF = 65504.0  # the largest float16


def check_q4(nibbles, d, m):
    """(n, blocks) of weights in four bits.

    raises TypeError for other dtypes than uint8 and float16, ValueError for shapes that do not fit
    """
    n, blocks, half = check_bytes("nibbles", nibbles, ndim=3, dtype=np.uint8)
    if half != BLOCK // 2:
        raise ValueError(f"nibbles has shape {nibbles.shape}: {BLOCK // 2} bytes a block needed")
    for name, x in (("d", d), ("m", m)):
        if check_bytes(name, x, ndim=2, dtype=np.float16) != (n, blocks):
            raise ValueError(f"the shape of {name} is {x.shape}, that of nibbles {nibbles.shape}")
    return n, blocks


# 09_quantize: pack_q4
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
    if np.abs(w).max(initial=0) > MOST_HALF:
        raise ValueError(f"w has numbers beyond {MOST_HALF:.0f}, float16's largest")
    blocks = w.reshape(n, k // BLOCK, BLOCK)
    least = blocks.min(axis=2)
    span = blocks.max(axis=2) - least
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


# 09_quantize: LOW_BITS, FOUR, vector_for
LOW_BITS, FOUR = np.uint8(15), np.uint8(4)


def vector_for(x, blocks):
    """The vector as contiguous float32, for a matrix with so many blocks in a row.

    raises TypeError and ValueError as check_float_array, ValueError for another length
    """
    (k,) = check_float_array("x", x, ndim=1)
    if k != BLOCK * blocks:
        raise ValueError(f"x has {k} elements, the weights {BLOCK * blocks} columns")
    return np.array(x, np.float32, order="C")


@kernel
def q4_row_by_row(nibbles, d, m, x, y):
    """What the speed of yours is compared with: the bytes as pack_q4 gives them, row after row."""
    for r in range(len(nibbles)):
        total = np.float32(0)
        for b in range(nibbles.shape[1]):
            row, part, plain = nibbles[r, b], np.float32(0), np.float32(0)
            for i in range(16):
                low, high = x[32 * b + i], x[32 * b + 16 + i]
                part += low * np.float32(row[i] & LOW_BITS) + high * np.float32(row[i] >> FOUR)
                plain += low + high
            total += d[r, b] * part + m[r, b] * plain
        y[r] = total


def matvec_q4_rows(nibbles, d, m, x):
    """The product of packed weights with a vector, without rearranging them: slow.

    nibbles, d, m : as pack_q4 gives them
    x             : (32 * blocks,) float32
    """
    n, blocks = check_q4(nibbles, d, m)
    y, x = np.empty(n, np.float32), vector_for(x, blocks)
    nibbles = np.ascontiguousarray(nibbles)
    q4_row_by_row(nibbles, d.astype(np.float32), m.astype(np.float32), x, y)
    return y


# 09_quantize: matvec_q4
def interleave_q4(nibbles, d, m):
    """Weights in four bits, arranged for matvec_q4: rows innermost.

        bytes[b, i, r] = nibbles[r, b, i]        steps[b, r] = d[r, b]        least[b, r] = m[r, b]

    nibbles, d, m : as pack_q4 gives them; not modified
    returns (bytes, steps, least): uint8 (blocks, 16, n), float32 (blocks, n), float32 (blocks, n),
        all contiguous and new
    raises TypeError and ValueError as check_q4

    >>> packed = interleave_q4(*pack_q4(np.zeros((5, 64), np.float32)))
    >>> [x.shape for x in packed]
    [(2, 16, 5), (2, 5), (2, 5)]
    """
    check_q4(nibbles, d, m)
    columns = np.array(nibbles.transpose(1, 2, 0), order="C")
    steps, least = (np.array(x.T, np.float32, order="C") for x in (d, m))
    return columns, steps, least


@kernel
def q4_kernel(columns, steps, least, x, sums, y):
    """The product of interleaved weights with a vector.

        y[r] = sum over b of (steps[b, r] * sum over i of q[b, i, r] * x[32 * b + i]
                              + least[b, r] * sums[b])

    columns, steps, least : as interleave_q4 gives them
    x    : (32 * blocks,) float32
    sums : (blocks,) float32, the sum of x in each block
    y    : (n,) float32 with anything in it; changed
    """
    blocks, half, n = columns.shape
    part = np.empty(n, np.float32)
    y[:] = np.float32(0)
    for b in range(blocks):
        part[:] = np.float32(0)
        for i in range(half):
            low, high, row = x[BLOCK * b + i], x[BLOCK * b + half + i], columns[b, i]
            for r in range(n):
                byte = row[r]
                part[r] += low * np.float32(byte & LOW_BITS) + high * np.float32(byte >> FOUR)
        step, lowest, total = steps[b], least[b], sums[b]
        for r in range(n):
            y[r] += step[r] * part[r] + lowest[r] * total


def matvec_q4(packed, x):
    """The product of weights in four bits with a vector, without writing the weights out.

        y[r] = sum over j of w[r, j] * x[j], with w as unpack_q4 gives it

    packed : (n, k) weights, interleave_q4(nibbles, d, m)
    x      : (k,) float32 or float64, any stride; not modified
    returns (n,) float32, a new array
    raises TypeError and ValueError as vector_for, ValueError for arrays that do not fit together

    >>> matvec_q4(interleave_q4(*pack_q4(np.ones((2, 32)))), np.arange(32.0))
    array([496., 496.], dtype=float32)
    """
    columns, steps, least = packed
    blocks, half, n = columns.shape
    if half != BLOCK // 2 or not steps.shape == least.shape == (blocks, n):
        raise ValueError(f"packed has shapes {columns.shape}, {steps.shape}, {least.shape}")
    x = vector_for(x, blocks)
    y = np.empty(n, np.float32)
    q4_kernel(columns, steps, least, x, x.reshape(blocks, BLOCK).sum(axis=1), y)
    return y


# 09_quantize: GroupedQ4, group_q4, quantize_blocks
class GroupedQ4(NamedTuple):
    """4-bit weights with VL rows side by side, for matvec_q4_bytes.

    words : (ceil(n / VL), k / 32, 5, VL) int32. A block of 32 weights of a row is five numbers of
            32 bits, as in a file: d and m together, and the four of its nibbles. Each of the five
            stands beside those of the next rows. Rows that do not exist are 0.
    n     : rows
    """

    words: np.ndarray
    n: int


def group_q4(nibbles, d, m):
    """The same weights, VL rows side by side; copied."""
    n, blocks = check_q4(nibbles, d, m)
    words = np.zeros((-(-n // VL) * VL, blocks, 5), np.int32)
    halves = words.view(np.uint16)
    halves[:n, :, 0], halves[:n, :, 1] = d.view(np.uint16), m.view(np.uint16)
    words[:n, :, 1:] = np.ascontiguousarray(nibbles).view(np.int32)
    grouped = aligned_empty((len(words) // VL, blocks, 5, VL)).view(np.int32)
    grouped[:] = words.reshape(-1, VL, blocks, 5).transpose(0, 2, 3, 1)
    return GroupedQ4(grouped, n)


@kernel
def quantize_blocks(x, q, scales, sums):
    """x in int8, block by block of 32, each by its own scale; and the sums of the blocks of x."""
    for b in range(len(scales)):
        block, codes = x[BLOCK * b : BLOCK * (b + 1)], q[BLOCK * b : BLOCK * (b + 1)]
        top, total = np.float32(0), np.float32(0)
        for i in range(len(block)):
            top = max(top, abs(block[i]))
            total += block[i]
        scales[b], sums[b] = top / np.float32(127), total
        steps = np.float32(127) / top if top > 0 else np.float32(0)
        for i in range(len(block)):
            codes[i] = np.int8(np.rint(block[i] * steps))


@kernel
def matvec_q4_bytes_kernel(grouped, x, scales, sums, y):
    """y = W x, VL rows at a time, each block by eight dot products of bytes.

    grouped : as group_q4 makes it
    x       : (k / 4,) int32, four numbers of 8 bits in each; scales and sums as quantize_blocks
    y       : (rows, a multiple of VL) float32; changed
    """
    groups, blocks = grouped.shape[:2]
    for g in range(groups):
        words, total = grouped[g].reshape(-1), vzero()
        for b in range(blocks):
            at, even, odd = 5 * VL * b, izero(), izero()
            for i in range(4):
                bytes_ = iload(words, at + VL * (i + 1))
                even = vdp4(half_bytes(bytes_, 0), ibcast(x, 8 * b + i), even)
                odd = vdp4(half_bytes(bytes_, 4), ibcast(x, 8 * b + 4 + i), odd)
            steps = iload(words, at)
            scale = vfma(ihalf(steps, 0), vbcast(scales, b), vzero())
            total = vfma(scale, ifloat(iadd(even, odd)), total)
            total = vfma(ihalf(steps, 16), vbcast(sums, b), total)
        vstore(y, VL * g, total)


def matvec_q4_bytes(packed, x):
    """W x with x in 8 bits, block by block, and sums in integers.

    packed : group_q4 of the weights
    x      : (k,) float32 or float64; each number is off by half a step of its block at most
    returns (n,) float32
    raises TypeError and ValueError as vector_for
    """
    groups, blocks = packed.words.shape[:2]
    x = vector_for(x, blocks)
    q, (scales, sums) = np.empty(len(x), np.int8), np.empty((2, blocks), np.float32)
    quantize_blocks(x, q, scales, sums)
    y = np.empty(VL * groups, np.float32)
    matvec_q4_bytes_kernel(packed.words, q.view(np.int32), scales, sums, y)
    return y[: packed.n]

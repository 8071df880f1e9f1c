# Built from module 08_simd by tito export; edit the module, not this file.
"""SIMD: your own GEMM beside OpenBLAS."""

import functools

import numpy as np
from numba import types

from tinykernels.jit import kernel, matmul_registers
from tinykernels.loops import check_float_array
from tinykernels.simd.blocked import gemm_blocked, gemm_wide, packed_kernel, room_for
from tinykernels.simd.macrokernel import MC, depth_for
from tinykernels.simd.matrices import (
    FLOAT,
    MATRIX,
    begin,
    compiled_once,
    finish,
    floats_of,
    reachable,
)
from tinykernels.simd.microkernel import TILE, WIDEST, packed_tile, row_parts, tile_for, ukernel
from tinykernels.simd.packing import (
    STAY,
    aligned_empty,
    pack_b,
    panels_from_columns,
    strip_for,
    tile_columns,
)
from tinykernels.simd.vec import VL, in_python

__all__ = [
    "IN_PLACE_ROWS",
    "PackedMatrix",
    "gemm",
    "gemm_skinny",
    "in_place_kernel",
    "skinny_in_python",
    "skinny_kernel",
    "tiles_in_place",
    "tiles_reading",
]


# 08_simd: IN_PLACE_ROWS
# Rows of A for which a B of more than STAY floats is not packed. They are few without AVX-512: rows
# of B are not asked for ahead there, and those that lie a power of two apart come from far.
IN_PLACE_ROWS = 128 if VL == 16 else 2 * TILE[0]


# 08_simd: gemm_skinny
@functools.cache
def in_place_kernel(mr, nv):
    """The compiled loops over all tiles of mr rows and nv vectors, with B where it lies.

    returns tiles(pa, b, ldb, c, ic, ldc, n), which adds the product to c:

        c[ic + i * ldc + j] += sum over p of A[i, p] * b[ldb * p + j]    for j < n

        pa     : (m / mr, k, mr), as pack_a makes it; m is a multiple of mr
        b, ldb : the floats of B, and how many from a row to the next; nothing behind them is read
        n      : columns of B, at least nr = nv * VL
        the others as in macro_kernel
    """
    tile, narrow = ukernel(mr, nv), ukernel(mr, 1)
    nr = np.intp(nv * VL)  # for each int, Numba would compile what is called with it anew

    @kernel
    def tiles(pa, b, ldb, c, ic, ldc, n):
        count, k, _ = pa.shape
        begins, strip = tile_columns(b, ldb, n, nr), strip_for(k, nr)
        edge = np.empty(mr * nr, np.float32)
        number = len(begins) - 1
        for first in range(0, number, strip):
            for q in range(count):
                for t in range(first, min(first + strip, number)):
                    j, width = begins[t], begins[t + 1] - begins[t]
                    place = ic + q * mr * ldc + j
                    if width == nr:
                        target, start, ld, at = c, place, ldc, j
                    else:
                        edge[:] = np.float32(0)
                        ld = VL if width <= VL else nr
                        target, start, at = edge, 0, min(j, n - ld)
                    if width <= VL:
                        narrow(pa[q], b[at:], ldb, k, target, start, ld)
                    else:
                        tile(pa[q], b[at:], ldb, k, target, start, ld)
                    if width < nr:
                        for r in range(mr):
                            for s in range(width):
                                c[place + r * ldc + s] += edge[r * ld + j - at + s]

    return tiles


@functools.cache
def skinny_kernel(mr, nv):
    """The compiled product of few rows: packing A and the tiles are one call from Python.

    Each call costs microseconds here: a B of some MB has driven Python itself out of the caches.
    """
    tiles = in_place_kernel(mr, nv)

    @compiled_once(MATRIX, types.intp, types.intp)
    @kernel
    def add_product(a, c, b, row, rows):
        k, n = b.shape
        lda, ldb, ldc = a.strides[0] // 4, b.strides[0] // 4, c.strides[0] // 4
        pa = np.empty((rows // mr, k, mr), np.float32)
        panels_from_columns(floats_of(a)[row * lda :], lda, rows, pa)
        tiles(pa, floats_of(b), ldb, floats_of(c), row * ldc, ldc, n)

    return add_product


def gemm_skinny(a, b, out=None):
    """The product of two matrices for few rows of a: b is read in place, not packed.

        out[i, j] = sum over p of a[i, p] * b[p, j]

    a, b : (m, k) and (k, n) float32, any stride; not modified
    out  : (m, n) float32, any stride, or None for a new array
    returns out
    raises TypeError and ValueError as begin

    >>> gemm_skinny(np.ones((1, 3), np.float32), np.ones((3, 2), np.float32))
    array([[3., 3.]], dtype=float32)
    """
    m, _, n, out, c = begin(a, b, out)
    if n < WIDEST * VL:  # a tile would reach over the end of a row
        return gemm_blocked(a, b, out)
    a, b, memory = reachable(a), reachable(b), np.asarray(c)
    for row, rows, mr, nv in row_parts(m, tile_for):
        skinny_kernel(mr, nv)(a, memory, b, row, rows)
    return finish(out, c)


def skinny_in_python(a, b):
    """gemm_skinny in plain Python."""
    return in_python(gemm_skinny)(a, b)


def tiles_reading(a, b):
    """(how many tiles of gemm_skinny read B where it lies, how many a copy of it)."""
    in_place = []

    def noting(mr, nv):
        return lambda pa, columns, *others: in_place.append(np.shares_memory(columns, b))

    in_python(gemm_skinny, ukernel=noting)(a, b)
    return in_place.count(True), in_place.count(False)


def tiles_in_place(mr, nv, panels, n, c):
    """([(column of B where it reads, panel of A) for each tile in turn], c) of in_place_kernel.

    Its microkernel computes nothing; B begins four floats behind a cache line, and two tiles of it
    stay in the second cache.
    """
    pa, memory, seen = np.zeros((panels, 1, mr), np.float32), aligned_empty((n + 4,)), []
    b = memory[4:]

    def noting(mr, nv):
        def tile(panel, columns, *others):
            places = panel.ctypes.data - pa.ctypes.data, columns.ctypes.data - b.ctypes.data
            seen.append((places[1] // 4, places[0] // pa[0].nbytes))

        return tile

    tiles = in_python(in_place_kernel, ukernel=noting, STAY=2 * nv * VL)(mr, nv)
    tiles(pa, b, n, c.reshape(-1), 0, n, n)
    return seen, c


class PackedMatrix:
    """A matrix packed once, for many products: gemm(a, PackedMatrix(b)).

    b : (k, n) float32, any stride; copied

    >>> gemm(np.ones((1, 2), np.float32), PackedMatrix(np.ones((2, 3), np.float32)))
    array([[2., 2., 2.]], dtype=float32)
    """

    ndim, dtype = 2, FLOAT

    def __init__(self, b):
        check_float_array("b", b, dtype=self.dtype, ndim=2)
        self.shape = b.shape
        kc = self._kc = depth_for(len(b))
        self._blocks = [pack_b(b[p : p + kc], TILE[1] * VL) for p in range(0, len(b), kc)]

    def product(self, a, out=None):
        """a @ b, as gemm gives it."""
        m, k, _, out, c = begin(a, self, out)
        a, memory = reachable(a), np.asarray(c)
        room = aligned_empty((room_for(min(m, MC), TILE[0], self._kc),))
        for block, p in zip(self._blocks, range(0, k, self._kc)):
            for row, rows, mr, nv in row_parts(m, packed_tile, MC):
                packed_kernel(mr, nv)(a, memory, block, room, p, row, rows)
        return finish(out, c)


def gemm(a, b, out=None):
    """The product of two matrices, by the kernel that is right for their shapes.

        out[i, j] = sum over p of a[i, p] * b[p, j]

    a   : (m, k) float32, any stride; float64 works too, by the tiles of 07; not modified
    b   : (k, n) of the same dtype, or a PackedMatrix; not modified
    out : (m, n) of that dtype, any stride, or None for a new array
    returns out; k = 0 gives zeros; the same input gives the same bits, call after call
    raises TypeError for other dtypes and for lists, ValueError for sizes that do not fit and an
        out of another shape or dtype, or that is read-only or shares memory with a or b

    >>> gemm(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32))
    array([[3.],
           [3.]], dtype=float32)
    """
    if isinstance(b, PackedMatrix):
        return b.product(a, out)
    if isinstance(a, np.ndarray) and a.dtype == np.float64:
        return matmul_registers(a, b, out)
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.ndim == b.ndim == 2):
        return gemm_blocked(a, b, out)  # says what is wrong
    few = len(a) < TILE[0] or (len(a) <= IN_PLACE_ROWS and b.size > STAY)
    if b.strides[1] == b.itemsize:
        if few:
            return gemm_skinny(a, b, out)
        if a.strides[1] == a.itemsize:
            return gemm_wide(a, b, out)
    return gemm_blocked(a, b, out, kc=depth_for(len(b)))

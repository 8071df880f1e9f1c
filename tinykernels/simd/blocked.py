# Built from module 08_simd by tito export; edit the module, not this file.
"""SIMD: your own GEMM beside OpenBLAS."""

import functools

import numpy as np
from numba import types

from tinykernels.jit import kernel
from tinykernels.loops import check_count
from tinykernels.simd.macrokernel import KC, MC, NC, depth_for, macro_kernel
from tinykernels.simd.matrices import (
    FLOATS,
    MATRIX,
    begin,
    compiled_once,
    finish,
    floats_of,
    reachable,
)
from tinykernels.simd.microkernel import TILE
from tinykernels.simd.packing import (
    aligned_empty,
    flat_rows,
    pack_a,
    pack_b,
    panels_from_columns,
    panels_from_rows,
)
from tinykernels.simd.vec import VL, in_python

__all__ = [
    "PANELS",
    "PART_OF_B",
    "blocked_in_python",
    "blocks_for",
    "blocks_packed",
    "gemm_blocked",
    "gemm_wide",
    "packed_kernel",
    "product_kernel",
    "room_for",
]


# 08_simd: gemm_blocked
def gemm_blocked(a, b, out=None, mc=MC, kc=KC, nc=NC):
    """The product of two matrices by packed blocks.

        out[i, j] = sum over p of a[i, p] * b[p, j]

    a, b       : (m, k) and (k, n) float32, any stride; not modified
    out        : (m, n) float32, any stride, or None for a new array
    mc, kc, nc : sizes of the blocks, at least 1, may be larger than the matrices
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as begin and check_count

    >>> gemm_blocked(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32))
    array([[3.],
           [3.]], dtype=float32)
    """
    mc, kc, nc = check_count("mc", mc), check_count("kc", kc), check_count("nc", nc)
    m, k, n, out, c = begin(a, b, out)
    memory, ldc = flat_rows(c)
    mr, nv = TILE
    tiles = macro_kernel(mr, nv)
    for j in range(0, n, nc):
        for p in range(0, k, kc):
            pb = pack_b(b[p : p + kc, j : j + nc], nv * VL)
            for i in range(0, m, mc):
                pa = pack_a(a[i : i + mc, p : p + kc], mr)
                tiles(pa, pb, memory, i * ldc + j, ldc, min(mc, m - i), min(nc, n - j))
    return finish(out, c)


def blocked_in_python(a, b, **blocks):
    """gemm_blocked in plain Python."""
    return in_python(gemm_blocked)(a, b, **blocks)


def blocks_packed(a, b, **blocks):
    """{name: floats of each call} for the calls of pack_a and pack_b in gemm_blocked."""
    seen = {"pack_a": [], "pack_b": []}

    def noting(name, pack):
        def noted(*args, **options):
            panels = in_python(pack)(*args, **options)
            seen[name].append(panels.size)
            return panels

        return noted

    noted = {name: noting(name, pack) for name, pack in (("pack_a", pack_a), ("pack_b", pack_b))}
    in_python(gemm_blocked, **noted)(a, b, **blocks)
    return seen


PANELS = types.Array(types.float32, 3, "C")
PART_OF_B = 6 * TILE[1] * VL  # columns of B that are packed at a time where A stays


def room_for(rows, mr, depth):
    """Floats for panels of mr rows each, or columns, in whole cache lines."""
    floats = -(-rows // mr) * mr * depth
    return floats + -floats % 16


def blocks_for(m, n):
    """(mc, nc): of the smaller of A and B all is packed first, of the other a piece at a time.

    The piece is used at once, while it is in the second cache, and the next one takes its room.
    """
    return (NC, PART_OF_B) if m < n else (MC, NC)


@functools.cache
def product_kernel(mr, nv):
    """The five loops around the microkernel, compiled for a tile of mr rows and nv vectors.

    returns add_product(a, c, b, room_a, room_b, mc, kc, nc), which adds the product of a and b to c

        a, b, c        : (m, k), (k, n) and (m, n), reachable
        room_a, room_b : floats for the panels of a block of each
        mc, kc, nc     : sizes of the blocks
    """
    tiles, nr = macro_kernel(mr, nv), nv * VL

    @compiled_once(MATRIX, FLOATS, FLOATS, types.intp, types.intp, types.intp)
    @kernel
    def add_product(a, c, b, room_a, room_b, mc, kc, nc):
        (m, n), k = c.shape, len(b)
        lda, ldb, ldc = a.strides[0] // 4, b.strides[0] // 4, c.strides[0] // 4
        down, along = (m + mc - 1) // mc, (n + nc - 1) // nc  # blocks of C
        for p in range(0, k, kc):
            depth, row, column = min(kc, k - p), -1, -1
            pa, pb = room_a[:0].reshape(0, 0, mr), room_b[:0].reshape(0, 0, nr)
            for block in range(down * along):
                i, j = (block // along, block % along) if m < n else (block % down, block // down)
                rows, columns = min(mc, m - i * mc), min(nc, n - j * nc)
                if row != i:
                    row, count = i, (rows + mr - 1) // mr
                    pa = room_a[: count * depth * mr].reshape(count, depth, mr)
                    panels_from_columns(floats_of(a)[i * mc * lda + p :], lda, rows, pa)
                if column != j:
                    column, count = j, (columns + nr - 1) // nr
                    pb = room_b[: count * depth * nr].reshape(count, depth, nr)
                    panels_from_rows(floats_of(b)[p * ldb + j * nc :], ldb, columns, pb)
                place = i * mc * ldc + j * nc
                tiles(pa, pb, floats_of(c), place, ldc, rows, columns)

    return add_product


@functools.cache
def packed_kernel(mr, nv):
    """The same for a block of B that is packed already, and so many rows of A.

    returns add_product(a, c, pb, room, p, row, rows): the block lies at the p-th row of B
    """
    tiles = macro_kernel(mr, nv)

    @compiled_once(PANELS, FLOATS, types.intp, types.intp, types.intp)
    @kernel
    def add_product(a, c, pb, room, p, row, rows):
        count, k = (rows + mr - 1) // mr, pb.shape[1]
        pa = room[: count * k * mr].reshape(count, k, mr)
        lda, ldc = a.strides[0] // 4, c.strides[0] // 4
        panels_from_columns(floats_of(a)[row * lda + p :], lda, rows, pa)
        tiles(pa, pb, floats_of(c), row * ldc, ldc, rows, c.shape[1])

    return add_product


def gemm_wide(a, b, out=None):
    """The product of two matrices for many rows of a: gemm_blocked as one call of compiled code.

    The arguments, errors and what is returned are those of gemm_blocked.

    >>> gemm_wide(np.ones((1, 3), np.float32), np.ones((3, 2), np.float32))
    array([[3., 3.]], dtype=float32)
    """
    m, k, n, out, c = begin(a, b, out)
    mr, nv = TILE
    kc = depth_for(k)
    mc, nc = blocks_for(m, n)
    size = room_for(min(m, mc), mr, kc)
    room = aligned_empty((size + room_for(min(n, nc), nv * VL, kc),))
    a, b, memory, product = reachable(a), reachable(b), np.asarray(c), product_kernel(mr, nv)
    product(a, memory, b, room[:size], room[size:], mc, kc, nc)
    return finish(out, c)

# Built from module 08_simd by tito export; edit the module, not this file.
"""SIMD: your own GEMM beside OpenBLAS."""

import functools

import numpy as np

from tinykernels.jit import kernel
from tinykernels.simd.microkernel import ukernel
from tinykernels.simd.vec import VL, in_python

__all__ = ["KC", "MC", "NC", "depth_for", "macro_kernel", "multiply_panels", "tiles_called"]


# 08_simd: MC, KC, NC
# Rows of A, inner size and columns of B that are packed at a time.
MC, KC, NC = (264, 512, 4096) if VL == 16 else (132, 384, 4096)


def depth_for(k):
    """An inner size near KC, so that all blocks of k are of one depth.

    >>> depth_for(KC + 2) == KC + 2
    True
    """
    return max(1, -(-k // max(1, round(k / KC))))


# 08_simd: macro_kernel
@functools.cache
def macro_kernel(mr, nv):
    """The compiled loops over all tiles of a block of C, with a microkernel of that size in them.

    returns tiles(pa, pb, c, ic, ldc, m, n), which adds the product of two packed blocks to c:

        c[ic + i * ldc + j] += sum over p of A[i, p] * B[p, j]    for i < m, j < n

        pa      : (ceil(m / mr), k, mr), as pack_a makes it
        pb      : (ceil(n / nr), k, nr) with nr = nv * VL, as pack_b makes it; whatever the last
                  panels are filled up with does not get into c
        c       : contiguous float32; changed between ic and the block's last element only
        ic, ldc : where the block begins in c, and floats from a row of it to the next
    """
    tile, nr = ukernel(mr, nv), nv * VL

    @kernel
    def tiles(pa, pb, c, ic, ldc, m, n):
        k = pa.shape[1]
        edge = np.empty(mr * nr, np.float32)
        for i in range(0, m, mr):
            for j in range(0, n, nr):
                place = ic + i * ldc + j
                whole = i + mr <= m and j + nr <= n
                if whole:
                    target, start, ld = c, place, ldc
                else:
                    edge[:] = np.float32(0)
                    target, start, ld = edge, 0, nr
                tile(pa[i // mr], pb[j // nr], nr, k, target, start, ld)
                if not whole:
                    for r in range(min(mr, m - i)):
                        for s in range(min(nr, n - j)):
                            c[place + r * ldc + s] += edge[r * nr + s]

    return tiles


def multiply_panels(mr, nv, pa, pb, out, row, column, m, n, plain=False):
    """Add the product of packed blocks to the (m, n) block of out that begins there."""
    tiles, ldc = (in_python(macro_kernel) if plain else macro_kernel)(mr, nv), out.shape[1]
    tiles(pa, pb, out.reshape(-1), row * ldc + column, ldc, m, n)
    return out


def tiles_called(mr, nv, pa, pb, m, n):
    """(calls of the microkernel for a tile of c itself, for another array) in a block (m, n)."""
    c, own = np.zeros(m * n, np.float32), []

    def noting(mr, nv):
        return lambda pa, pb, ldb, kc, into, ic, ldc: own.append(np.shares_memory(into, c))

    in_python(macro_kernel, ukernel=noting)(mr, nv)(pa, pb, c, 0, n, m, n)
    return own.count(True), own.count(False)

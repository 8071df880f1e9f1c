"""What the compiled quantized kernels must do on every CPU: run in this process, and in children
that know fewer features.

A child is told what to compile for by environment variables, which Numba reads when it is
imported, so the battery is also a script: it prints how four products of bytes are made there.
"""

import numpy as np

from tinykernels import quantized
from tinykernels.simd.ints import DOT
from tinykernels.simd.vec import VL

SEED = 9


def exact(a, b):
    """The product of whole numbers in int64."""
    return a.astype(np.int64) @ b.astype(np.int64)


def check_products():
    """gemm_int8 against int64: edges of tiles and panels, all k modulo 4, the largest bytes."""
    draw, wide = np.random.default_rng(SEED), quantized.PANEL_INT8
    for m, k, n in ((1, 1, 1), (4, 6, wide), (3, 7, 2 * wide + 1), (2, 5, wide - 1), (0, 3, 2)):
        a = draw.integers(-128, 128, (m, k), dtype=np.int8)
        b = draw.integers(-128, 128, (k, n), dtype=np.int8)
        for right in (b, quantized.pack_k4(b), np.asfortranarray(b)):
            got = quantized.gemm_int8(a, right)
            assert got.dtype == np.int32 and np.array_equal(got, exact(a, b)), (m, k, n)
    for left in (-128, 127):
        for right in (-128, 127):
            a, b = np.full((2, 1027), left, np.int8), np.full((1027, 3), right, np.int8)
            assert (quantized.gemm_int8(a, b) == 1027 * left * right).all(), (left, right)


def check_vectors():
    """Products of 4-bit weights with a vector, by every kernel, against the weights as floats."""
    draw = np.random.default_rng(SEED)
    for n, blocks in ((1, 1), (VL + 1, 3)):
        q4 = quantized.pack_q4(draw.standard_normal((n, 32 * blocks)).astype(np.float32))
        x = draw.standard_normal(32 * blocks).astype(np.float32)
        w = quantized.unpack_q4(*q4).astype(np.float64)
        want, size = w @ x, np.abs(w) @ np.abs(x)
        by_floats = quantized.matvec_q4(quantized.interleave_q4(*q4), x)
        assert (np.abs(by_floats - want) <= 1e-5 * size).all()
        assert (np.abs(quantized.matvec_q4_rows(*q4, x) - want) <= 1e-5 * size).all()
        # Each x is off by half a step of its block at most.
        steps = np.repeat(np.abs(x).reshape(blocks, 32).max(1) / 127, 32)
        by_bytes = quantized.matvec_q4_bytes(quantized.group_q4(*q4), x)
        assert (np.abs(by_bytes - want) <= 0.51 * np.abs(w) @ steps + 1e-5 * size).all()


def check_all():
    check_products()
    check_vectors()


if __name__ == "__main__":
    check_all()
    print(DOT, VL)

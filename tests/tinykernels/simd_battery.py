"""What gemm must do on every CPU: run in this process, and in children that know fewer features.

A child is told what to compile for by environment variables, which Numba reads when it is
imported, so the battery is also a script: it prints the vector length that it ran with.
"""

import itertools

import numpy as np

from tinykernels.simd import gemm as simd
from tinykernels.simd.packing import aligned_empty
from tinykernels.simd.vec import VL

SEED = 8
# Around the tile and the registers: one less, equal, one more; empty; longer than a block of k.
# B is read in place for few rows and 8 * VL columns or more. Each height of a tile is compiled:
# there are three.
SHAPES = [
    (1, 1, 1),
    (1, 9, 8 * VL + 1),
    (simd.TILE[0] + 1, 5, 2 * VL - 1),
    (2 * simd.TILE[0], 33, 8 * VL),
    (16 * simd.TILE[0] + 1, 40, 9 * VL + 6),
    (simd.TILE[0], 530, 2 * VL + 3),
    (0, 4, 3),
    (1, 0, 4),
    (1, 4, 0),
]


def layouts(x):
    """(name, array): the values of x, lying in memory in every way that a caller can think of."""
    wide = np.full((2 * x.shape[0] + 1, 3 * x.shape[1] + 2), np.nan, x.dtype)
    frozen = x.copy()
    frozen.flags.writeable = False
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    places = {
        "C": np.empty_like(x),
        "Fortran": np.empty_like(x, order="F"),
        "a block": wide[1 : x.shape[0] + 1, 2 : x.shape[1] + 2],
        "steps": wide.copy()[: 2 * x.shape[0] : 2, : 3 * x.shape[1] : 3],
        "reversed rows": np.empty_like(x)[::-1],
        "reversed": np.empty_like(x)[::-1, ::-1],
        "unaligned": unaligned,
    }
    for name, place in places.items():
        place[...] = x
        yield name, place
    yield "read-only", frozen


def exact(a, b):
    """The product in float64; NumPy's einsum calls no BLAS without being asked to optimize."""
    return np.einsum("ik,kj->ij", a.astype(np.float64), b.astype(np.float64))


def close(got, a, b):
    """Whether a float32 product is as near as rounding allows: k + 1 roundings of each term."""
    bound = (a.shape[1] + 1) * np.finfo(np.float32).eps * exact(np.abs(a), np.abs(b))
    return got.dtype == np.float32 and bool((np.abs(got - exact(a, b)) <= bound).all())


KERNELS = {
    "gemm": simd.gemm,
    "gemm_blocked": simd.gemm_blocked,
    "gemm_blocked in small blocks": lambda a, b, out=None: simd.gemm_blocked(a, b, out, 7, 11, 13),
    "gemm_wide": simd.gemm_wide,
    "gemm_skinny": simd.gemm_skinny,
    "gemm of a PackedMatrix": lambda a, b, out=None: simd.gemm(a, simd.PackedMatrix(b), out),
}


def check_shapes():
    """Values, a fresh result, unchanged inputs, the same bits in a second call."""
    draw = np.random.default_rng(SEED)
    for (m, k, n), (name, kernel) in itertools.product(SHAPES, KERNELS.items()):
        a = draw.standard_normal((m, k), dtype=np.float32)
        b = draw.standard_normal((k, n), dtype=np.float32)
        before = a.copy(), b.copy()
        got = kernel(a, b)
        assert close(got, a, b), f"{name} of {m} x {k} x {n}"
        assert got.tobytes() == kernel(a, b).tobytes(), f"{name} gives other bits the second time"
        assert np.array_equal(a, before[0]) and np.array_equal(b, before[1]), f"{name}: an input"


def check_layouts():
    """Every layout of A, of B and of out, and what lies around out."""
    draw = np.random.default_rng(SEED)
    for m in (1, 16 * simd.TILE[0] + 1):  # few rows, in place; many, packed
        a = draw.integers(-9, 10, (m, 21)).astype(np.float32)
        b = draw.integers(-9, 10, (21, 8 * VL + 5)).astype(np.float32)
        want = exact(a, b).astype(np.float32)
        for name, other in layouts(a):
            assert np.array_equal(simd.gemm(other, b), want), f"A: {name}"
        for name, other in layouts(b):
            assert np.array_equal(simd.gemm(a, other), want), f"B: {name}"
        for name, out in layouts(np.full((m, 8 * VL + 5), 7, np.float32)):
            if out.flags.writeable:
                around = out.base
                assert simd.gemm(a, b, out) is out and np.array_equal(out, want), f"out: {name}"
                if name == "a block":
                    assert np.isnan(around).sum() == around.size - out.size, "beside out"


def check_lines():
    """B in place, wherever in a cache line it begins; what lies around it is not read."""
    draw = np.random.default_rng(SEED)
    m, k, n = 2 * simd.TILE[0], 3, 8 * VL
    a = draw.integers(-9, 10, (m, k)).astype(np.float32)
    for first in range(16):
        memory = aligned_empty((k * n + 32,))
        memory[...] = np.nan
        b = memory[first : first + k * n].reshape(k, n)
        b[...] = draw.integers(-9, 10, (k, n))
        out = np.zeros((m, n + 2), np.float32)
        got = simd.gemm_skinny(a, b, out[:, 1:-1])
        assert np.array_equal(got, exact(a, b)), f"B begins {first} floats behind a line"
        assert not out[:, [0, -1]].any(), "beside out"


def check_float64():
    """float64 goes to the tiles of 07."""
    draw = np.random.default_rng(SEED)
    a, b = draw.standard_normal((9, 30)), draw.standard_normal((30, 11))
    assert np.allclose(simd.gemm(a, b), exact(a, b), rtol=1e-13, atol=1e-13)


def check_special_values():
    """NaN and infinity go where the mathematics sends them."""
    a, b = np.ones((2 * simd.TILE[0], 5), np.float32), np.ones((5, 8 * VL + 3), np.float32)
    a[2, 2], b[1, 7] = np.nan, np.inf
    for product in (simd.gemm, simd.gemm_skinny):
        got = product(a, b)
        assert np.isnan(got[2]).all() and np.isposinf(np.delete(got[:, 7], 2)).all()
        assert np.isfinite(np.delete(np.delete(got, 2, 0), 7, 1)).all()


def check_all():
    check_shapes()
    check_layouts()
    check_lines()
    check_special_values()


if __name__ == "__main__":
    check_all()
    print(VL)

"""The workloads of module 09: products of bytes, and weights of four bits."""

from __future__ import annotations

import numpy as np

from tito.bench.workload import DTYPE, Expected, Kernel, Work, Workload, wide_product

# Q4_1: so many weights share a step and a minimum, each a float16, and have four bits of their own.
BLOCK, BLOCK_BYTES = 32, 20
STEPS = DTYPE.type(2) ** -np.arange(5, 9, dtype=DTYPE)
# Weights that are larger than this in float32 come from main memory.
LARGE = 32 * 2**20


def _int8_inputs(m: int, k: int, n: int) -> tuple[np.ndarray, ...]:
    return _bytes(m, k, seed=1), _bytes(k, n, seed=2)


def _bytes(*shape: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-128, 128, shape, np.int8)


def _int8_specification(a: np.ndarray, b: np.ndarray) -> Expected:
    """In float64 every sum is exact, for it is below 2**53."""
    return Expected(wide_product(a, b), a.shape[1])


def _q4_inputs(k: int, n: int) -> tuple[np.ndarray, ...]:
    """Weights and a vector that four bits and eight bits can hold without any rounding.

    So one result is right for all kernels, also for those that round both first. Each block has
    its least and its greatest weight in it, and each block of the vector the number 127.
    """
    generator = np.random.default_rng([3, k, n])
    blocks = -(-k // BLOCK)  # the sizes at which a trial begins are no multiples
    weights, x = np.empty((n, blocks * BLOCK), DTYPE), np.empty(blocks * BLOCK, DTYPE)
    codes = generator.integers(0, 16, (n, blocks, BLOCK), np.int8)
    codes[:, :, :2] = 0, 15
    middle = generator.integers(5, 12, (n, blocks, 1)).astype(DTYPE) + DTYPE.type(0.5)
    steps = generator.choice(STEPS, (n, blocks, 1))
    np.multiply(codes - middle, steps, out=weights.reshape(n, blocks, BLOCK))
    x[:] = generator.integers(1, 127, len(x)) * generator.choice((-1, 1), len(x))
    x[BLOCK - 1 :: BLOCK] = 127
    return weights, np.divide(x, 128, out=x)


def _q4_specification(weights: np.ndarray, x: np.ndarray) -> Expected:
    column = x[:, None]
    scale = wide_product(np.abs(weights), np.abs(column))
    return Expected(wide_product(weights, column)[:, 0], len(x), scale[:, 0])


QUANTIZED = (
    Workload(
        name="int8",
        axes=("M", "K", "N"),
        sizes=((512,) * 3, (1024,) * 3, (2048,) * 3, (4, 576, 1536)),
        work=lambda m, k, n: Work(2 * m * k * n, m * k + k * n + 4 * m * n),
        pieces=lambda m, k, n: (m * k, k * n, m * n),
        inputs=_int8_inputs,
        specification=_int8_specification,
        detail="bytes, summed in int32",
        operand="int8",
        result=np.dtype(np.int32),
        base="numpy float32 matmul",
        longest=0.4,  # the float32 product of 2048, beside which the others stand
        kernels=(
            Kernel("quantized.int8_matmul"),
            Kernel("quantized.gemm_int8"),
            Kernel("quantized.gemm_int8", packed=("pack_k4",), label="gemm_int8 prepacked"),
        ),
    ),
    Workload(
        name="q4",
        axes=("K", "N"),
        sizes=((576, 1536), (2048, 8192)),
        work=lambda k, n: Work(2 * k * n, k * n * BLOCK_BYTES // BLOCK + 4 * (k + n)),
        pieces=lambda k, n: (k * n, k, n),
        inputs=_q4_inputs,
        specification=_q4_specification,
        detail="4-bit weights times a vector",
        base="numpy matmul",
        weights=0,
        count=lambda k, n: k * n,
        multiples=(BLOCK, 1),
        cold=lambda k, n: 4 * k * n > LARGE,
        kernels=(
            Kernel("quantized.matvec_q4_rows", packed=("pack_q4",), spread=True),
            Kernel("quantized.matvec_q4", packed=("pack_q4", "interleave_q4")),
            Kernel("quantized.matvec_q4_bytes", packed=("pack_q4", "group_q4")),
        ),
    ),
)

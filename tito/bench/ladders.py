"""What `tito bench` measures: seven workloads, and the kernels of the package that do them."""

from __future__ import annotations

import math

import numpy as np

from tito.bench.quantized import QUANTIZED
from tito.bench.workload import (
    DTYPE,
    Expected,
    Kernel,
    Work,
    Workload,
    numbers,
    wide_product,
)

EPS = 1e-5  # of layernorm
WINDOW = 3  # conv: rows and columns of a filter
PADDING = 1


def _gemm_inputs(m: int, k: int, n: int) -> tuple[np.ndarray, ...]:
    return numbers(m, k, seed=1), numbers(k, n, seed=2)


def _gemm_specification(a: np.ndarray, b: np.ndarray) -> Expected:
    return Expected(wide_product(a, b), a.shape[1], wide_product(np.abs(a), np.abs(b)))


def _softmax_specification(x: np.ndarray) -> Expected:
    """By the logarithm of the sum, so that no exponential is divided."""
    wide = x.astype(np.float64)
    return Expected(np.exp(wide - np.logaddexp.reduce(wide, axis=1)[:, None]), x.shape[1])


def _layernorm_inputs(m: int, n: int) -> tuple[np.ndarray, ...]:
    return numbers(m, n, seed=1), numbers(n, seed=2), numbers(n, seed=3)


def _layernorm_specification(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> Expected:
    wide = x.astype(np.float64)
    length = np.hypot(wide.std(axis=1), math.sqrt(EPS))
    centred = wide - wide.mean(axis=1)[:, None]
    return Expected(centred / length[:, None] * gamma + beta, x.shape[1])


def _relu_specification(x: np.ndarray) -> Expected:
    wide = x.astype(np.float64)
    return Expected((wide + np.abs(wide)) / 2, 1)


def _conv_inputs(c: int, h: int, w: int, o: int) -> tuple[np.ndarray, ...]:
    return numbers(c, h, w, seed=1), numbers(o, c, WINDOW, WINDOW, seed=2)


def _conv_specification(x: np.ndarray, w: np.ndarray) -> Expected:
    """A sum of nine products, one for each place in the window; padding keeps the size."""
    want, scale = _shifted_products(x, w), _shifted_products(np.abs(x), np.abs(w))
    return Expected(want, w[0].size, scale)


def _shifted_products(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    _, height, width = x.shape
    wide = np.pad(x, ((0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    total = np.zeros((len(w), height * width))
    for down, right in np.ndindex(WINDOW, WINDOW):
        part = wide[:, down : down + height, right : right + width]
        total += wide_product(w[:, :, down, right], part.reshape(len(part), -1))
    return total.reshape(-1, height, width)


def _moved(*pieces: int) -> int:
    return DTYPE.itemsize * sum(pieces)


def _gemm_pieces(m: int, k: int, n: int) -> tuple[int, ...]:
    return m * k, k * n, m * n


def _conv_pieces(c: int, h: int, w: int, o: int) -> tuple[int, ...]:
    """The largest array is the one that im2col makes, so it counts for what memory is needed."""
    return c * h * w * WINDOW * WINDOW, o * c * WINDOW * WINDOW, o * h * w


def _conv_work(c: int, h: int, w: int, o: int) -> Work:
    taps = c * WINDOW * WINDOW
    return Work(2 * taps * o * h * w, _moved(c * h * w, o * taps, o * h * w))


WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload(
            name="gemm",
            axes=("M", "K", "N"),
            sizes=((64, 64, 64), (250, 250, 250), (256, 256, 256), (1024, 1024, 1024)),
            work=lambda m, k, n: Work(2 * m * k * n, _moved(*_gemm_pieces(m, k, n))),
            pieces=_gemm_pieces,
            inputs=_gemm_inputs,
            specification=_gemm_specification,
            kernels=(
                Kernel("loops.matmul_loops"),
                Kernel("vectorized.vectorized_matmul"),
                Kernel("vectorized.matmul_baseline"),
                Kernel("blocking.cache_friendly_matmul"),
                Kernel("blocking.blocked_matmul"),
                Kernel("parallel.parallel_matmul", workers="num_workers"),
                Kernel("jit.matmul_ijk"),
                Kernel("jit.matmul_ikj"),
                Kernel("jit.matmul_registers"),
                Kernel("jit.matmul_prange"),
                Kernel("simd.gemm.gemm"),
                Kernel("simd.gemm.gemm", packed=("PackedMatrix",), label="gemm prepacked"),
                Kernel(".matmul"),
            ),
        ),
        Workload(
            name="softmax",
            axes=("M", "N"),
            sizes=((64, 250), (512, 2048)),
            work=lambda m, n: Work(0, _moved(m * n, m * n)),
            pieces=lambda m, n: (m * n, m * n),
            inputs=lambda m, n: (numbers(m, n, seed=1),),
            specification=_softmax_specification,
            kernels=(
                Kernel("loops.softmax_loops"),
                Kernel("vectorized.softmax"),
                Kernel("jit.softmax_fused"),
            ),
        ),
        Workload(
            name="layernorm",
            axes=("M", "N"),
            sizes=((64, 250), (256, 4096)),
            work=lambda m, n: Work(0, _moved(m * n, m * n, 2 * n)),
            pieces=lambda m, n: (m * n, m * n, 2 * n),
            inputs=_layernorm_inputs,
            specification=_layernorm_specification,
            kernels=(
                Kernel("loops.layernorm_loops"),
                Kernel("vectorized.layernorm"),
                Kernel("jit.layernorm_fused"),
            ),
        ),
        Workload(
            name="relu",
            axes=("M", "N"),
            sizes=((64, 250), (1024, 1024)),
            work=lambda m, n: Work(0, _moved(m * n, m * n)),
            pieces=lambda m, n: (m * n, m * n),
            inputs=lambda m, n: (numbers(m, n, seed=1),),
            specification=_relu_specification,
            kernels=(
                Kernel("loops.relu_loops"),
                Kernel("vectorized.vectorized_relu"),
                Kernel("parallel.parallel_relu", workers="num_workers"),
                Kernel("jit.relu_fused"),
            ),
        ),
        Workload(
            name="conv",
            detail=f"{WINDOW} x {WINDOW}, pad {PADDING}",
            axes=("C", "H", "W", "O"),
            sizes=((3, 14, 14, 4), (64, 56, 56, 64)),
            work=_conv_work,
            pieces=_conv_pieces,
            inputs=_conv_inputs,
            specification=_conv_specification,
            kwargs=(("padding", PADDING),),
            kernels=(
                Kernel("loops.conv2d_loops"),
                Kernel("vectorized.conv2d_im2col"),
                Kernel("fused.cached_conv2d"),
            ),
        ),
    )
} | {workload.name: workload for workload in QUANTIZED}

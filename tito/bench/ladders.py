"""What `tito bench` measures: five workloads, and the kernels of the package that do them.

A workload names its dimensions, makes inputs, counts the work of one call, and has a
specification in float64 that is spelled like no kernel of the course. Rungs are found by name in
the course folder's package, so a module that does not exist yet is simply not there.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE = "tinykernels"
DTYPE = np.dtype(np.float32)
EPS = 1e-5  # of layernorm
WINDOW = 3  # conv: rows and columns of a filter
PADDING = 1
SLAB = 128  # of a float64 product, see _wide_product

Dims = tuple[int, ...]


@dataclass(frozen=True)
class Work:
    """What one call costs at least: operations on floats, and each input and result moved once."""

    flops: int
    nbytes: int


@dataclass(frozen=True)
class Expected:
    """What a right result is, and how much it may be rounded (see tito.checks.compare).

    want  : the specification's result, float64
    inner : how many terms an element adds up
    scale : magnitude of what is added up, or None for that of the result
    """

    want: np.ndarray
    inner: int
    scale: Any = None


@dataclass(frozen=True)
class Kernel:
    """A public function of the package.

    where   : file and function, "loops.matmul_loops"; the package itself has no file: ".matmul"
    workers : the argument that says how many threads share the work, where it has one
    packed  : a class beside it that the last input is turned into, once, which is not timed
    """

    where: str
    workers: str = ""
    packed: str = ""

    @property
    def function(self) -> str:
        return self.where.rpartition(".")[2]

    @property
    def name(self) -> str:
        return f"{self.function} prepacked" if self.packed else self.function

    @property
    def module(self) -> str:
        file = self.where.rpartition(".")[0]
        return f"{PACKAGE}.{file}" if file else PACKAGE


@dataclass(frozen=True)
class Workload:
    """One thing to compute, at any size.

    axes     : the letters of its dimensions
    sizes    : what is measured when nobody asks; some stand next to a power of two
    work     : (dims) -> what one call costs at least
    pieces   : (dims) -> how many numbers each input and the result hold
    inputs   : (dims) -> the arrays that every rung and peer gets
    kwargs   : what the package's kernels get besides
    detail   : what the dimensions do not say
    """

    name: str
    axes: tuple[str, ...]
    sizes: tuple[Dims, ...]
    work: Callable[..., Work]
    pieces: Callable[..., tuple[int, ...]]
    inputs: Callable[..., tuple[np.ndarray, ...]]
    specification: Callable[..., Expected]
    kernels: tuple[Kernel, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()
    detail: str = ""

    @property
    def pattern(self) -> str:
        """How a size of it is written: "MxKxN"."""
        return "x".join(self.axes)

    def dims(self, numbers: Dims) -> Dims:
        """The dimensions that a size names; one number stands for all of them."""
        return numbers * len(self.axes) if len(numbers) == 1 else numbers

    def needs(self, dims: Dims) -> int:
        """Bytes of memory that measuring takes: the arrays, copies, and checks in float64."""
        return 10 * 4 * sum(self.pieces(*dims))


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Random numbers of the normal distribution: every page of the array is written."""
    generator = np.random.default_rng([seed, *shape])
    return generator.standard_normal(shape, dtype=DTYPE)


def _gemm_inputs(m: int, k: int, n: int) -> tuple[np.ndarray, ...]:
    return numbers(m, k, seed=1), numbers(k, n, seed=2)


def _gemm_specification(a: np.ndarray, b: np.ndarray) -> Expected:
    return Expected(_wide_product(a, b), a.shape[1], _wide_product(np.abs(a), np.abs(b)))


def _wide_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """In float64, a slab of the inner dimension after the other.

    OpenBLAS 0.3.34 ends the process in a float64 product that is deeper than about 300 where
    OPENBLAS_CORETYPE asks an AMD CPU with AVX-512 for older kernels (its issue 6021).
    """
    total = np.zeros((len(a), b.shape[1]))
    for start in range(0, len(b), SLAB):
        slab = slice(start, start + SLAB)
        total += np.dot(a[:, slab].astype(np.float64), b[slab].astype(np.float64))
    return total


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
        total += _wide_product(w[:, :, down, right], part.reshape(len(part), -1))
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
                Kernel("simd.gemm.gemm", packed="PackedMatrix"),
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
}


def load(kernel: Kernel) -> Callable | None:
    """The function; None where its file or the function itself is not there.

    raises whatever the import of a file that is there raises
    """
    if not _has_file(kernel):
        return None
    found = getattr(importlib.import_module(kernel.module), kernel.function, None)
    return found if callable(found) else None


def arguments(kernel: Kernel, inputs: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    """What a kernel is called with: the inputs, the last of them packed where it takes that."""
    if not kernel.packed:
        return inputs
    pack = getattr(importlib.import_module(kernel.module), kernel.packed)
    return *inputs[:-1], pack(inputs[-1])


def _has_file(kernel: Kernel) -> bool:
    """Whether the package itself holds the kernel's file.

    An import alone does not tell: an editable install of another course folder supplies the files
    that this one lacks.
    """
    folder = Path(importlib.import_module(PACKAGE).__path__[0])
    path = folder.joinpath(*kernel.module.split(".")[1:])
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()

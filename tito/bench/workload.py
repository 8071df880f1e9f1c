"""A workload of `tito bench`: one thing to compute, and the kernels of the package that do it.

A workload names its dimensions, makes inputs, counts the work of one call, and has a
specification in float64 that is spelled like no kernel of the course. Rungs are found by name in
the course folder's package, so a module that does not exist yet is simply not there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE = "tinykernels"
DTYPE = np.dtype(np.float32)
SLAB = 128  # of a float64 product, see wide_product

Dims = tuple[int, ...]


@dataclass(frozen=True)
class Work:
    """What one call costs at least: operations, and each input and result moved once."""

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
    packed  : names beside it that make its own form of the weights, one out of the other; that is
              done once and not timed
    spread  : whether the parts of that form are arguments of their own
    label   : what it is called in tables, where the function's name does not say enough
    """

    where: str
    workers: str = ""
    packed: tuple[str, ...] = ()
    spread: bool = False
    label: str = ""

    @property
    def function(self) -> str:
        return self.where.rpartition(".")[2]

    @property
    def name(self) -> str:
        return self.label or self.function

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
    operand  : type of the numbers that are multiplied: whose peak is the roof
    result   : dtype of a right result; whole numbers have to be exact
    base     : name of the row that all others are compared with; empty: the first rung
    weights  : which of the inputs is known long before the others, and may be packed
    count    : (dims) -> how many weights there are, where their bytes are a matter of the kernel
    multiples: of what each dimension must be a multiple
    longest  : seconds that a call of it may take, where that is more than of others
    cold     : (dims) -> whether the weights come from main memory, as those of a large model do
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
    operand: str = DTYPE.name
    result: np.dtype = DTYPE
    base: str = ""
    weights: int = -1
    count: Callable[..., int] | None = None
    multiples: tuple[int, ...] = ()
    longest: float = 0.0
    cold: Callable[..., bool] = lambda *dims: False

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


def load(kernel: Kernel) -> Callable | None:
    """The function; None where its file or the function itself is not there.

    raises whatever the import of a file that is there raises
    """
    if not _has_file(kernel):
        return None
    found = getattr(importlib.import_module(kernel.module), kernel.function, None)
    return found if callable(found) else None


def arguments(kernel: Kernel, inputs: tuple[np.ndarray, ...], weights: int = -1) -> tuple[Any, ...]:
    """What a kernel is called with: the inputs, the weights in its own form where it has one."""
    if not kernel.packed:
        return inputs
    place = weights % len(inputs)
    form = _packed(kernel, inputs[place])
    return *inputs[:place], *(form if kernel.spread else (form,)), *inputs[place + 1 :]


def _packed(kernel: Kernel, form: Any) -> Any:
    module = importlib.import_module(kernel.module)
    for name in kernel.packed:
        pack = getattr(module, name)
        form = pack(*form) if isinstance(form, tuple) else pack(form)
    return form


def _has_file(kernel: Kernel) -> bool:
    """Whether the package itself holds the kernel's file.

    An import alone does not tell: an editable install of another course folder supplies the files
    that this one lacks.
    """
    folder = Path(importlib.import_module(PACKAGE).__path__[0])
    path = folder.joinpath(*kernel.module.split(".")[1:])
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Random numbers of the normal distribution: every page of the array is written."""
    generator = np.random.default_rng([seed, *shape])
    return generator.standard_normal(shape, dtype=DTYPE)


def wide_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """In float64, a slab of the inner dimension after the other.

    OpenBLAS 0.3.34 ends the process in a float64 product that is deeper than about 300 where
    OPENBLAS_CORETYPE asks an AMD CPU with AVX-512 for older kernels (its issue 6021).
    """
    total = np.zeros((len(a), b.shape[1]))
    for start in range(0, len(b), SLAB):
        slab = slice(start, start + SLAB)
        total += np.dot(a[:, slab].astype(np.float64), b[slab].astype(np.float64))
    return total

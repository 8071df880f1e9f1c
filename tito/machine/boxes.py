"""Sealed boxes: compiled loops that drive one unit of the core as hard as it goes.

Modules before 07 use what they measure and do not open them. Each is a function for one width of
vector, built by Numba when it is asked for. Inside is LLVM's intermediate code, written by an
`intrinsic`: vectors of exactly that width, so that no compiler chooses another.

    multiply_add(turns)        : CHAINS independent sums, each one multiply-add a turn
    read(numbers, turns)       : every vector of the array loaded, `turns` times over
    copy(numbers, out, turns)  : every vector loaded from one array and stored to the other

Arrays are one-dimensional and C-contiguous, their length a multiple of UNROLL vectors.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

# A multiply-add takes 4 or 5 cycles, and cores start 2 (x86) or 4 (large ARM ones) in each: so
# many sums keep them busy. They and one factor have to fit into 16 and 32 registers.
CHAINS = 24 if platform.machine().lower() in ("arm64", "aarch64") else 12
UNROLL = 8
LINE = 64  # arrays begin on such a boundary


def available() -> bool:
    """Whether Numba is there, and compiles."""
    try:
        from numba import config
    except ImportError:
        return False
    return not config.DISABLE_JIT


def widths(features: tuple[str, ...], machine: str | None = None) -> tuple[int, ...]:
    """The widths in bits that a CPU with these features computes in one instruction.

    >>> widths(("sse2", "avx", "fma", "avx2"), "x86_64")
    (128, 256)
    """
    machine = (machine or platform.machine()).lower()
    if machine in ("arm64", "aarch64"):
        return (128,)
    if machine not in ("x86_64", "amd64"):
        return ()
    wider = [(256, "avx"), (512, "avx512f")]
    return (128, *(width for width, name in wider if name in features))


def aligned(dtype: str, nbytes: int) -> np.ndarray:
    """An array of ones that begins on a cache line; every page of it was written."""
    itemsize = np.dtype(dtype).itemsize
    room = np.empty(nbytes + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    array = room[start : start + nbytes // itemsize * itemsize].view(dtype)
    array.fill(1)
    return array


@cache
def multiply_add(dtype: str, width: int, fused: bool = True) -> Callable[[int], float]:
    """The box for multiply-adds; `fused` False is for a CPU that has no instruction for both."""
    from numba import njit, types
    from numba.core import cgutils
    from numba.extending import intrinsic

    number = types.float32 if dtype == "float32" else types.float64
    vector = _vector(dtype, width)

    @intrinsic
    def loop(typing: Any, turns: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            sums = [cgutils.alloca_once_value(builder, vector(None)) for _ in range(CHAINS)]
            factor = vector([0.5] * vector.count)
            with cgutils.for_range(builder, args[0]):
                for place in sums:
                    old = builder.load(place)
                    builder.store(_fma(builder, old, factor, factor, fused), place)
            total = builder.load(sums[0])
            for place in sums[1:]:
                total = builder.fadd(total, builder.load(place))
            return _lanes_added(builder, total)

        return number(types.intp), emit

    @njit
    def run(turns):
        return loop(turns)

    run(1)
    return run


def fuses(box: Callable) -> bool:
    """Whether a compiled box has an instruction that multiplies and adds at once.

    Without one LLVM calls a function of the C library instead: Numba may be told of another CPU.
    """
    return any("fmadd" in text or "fmla" in text for text in box.inspect_asm().values())


@cache
def read(width: int) -> Callable[[np.ndarray, int], int]:
    """The box for loads, of arrays of int32."""
    from numba import njit, types
    from numba.core import cgutils
    from numba.extending import intrinsic

    vector = _vector("int32", width)

    @intrinsic
    def loop(typing: Any, numbers: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            sums = [cgutils.alloca_once_value(builder, vector(None)) for _ in range(UNROLL)]
            with _blocks(builder, array.nitems, vector) as start:
                for step, place in enumerate(sums):
                    item = builder.load(_at(builder, array.data, start, step, vector), align=4)
                    builder.store(builder.add(builder.load(place), item), place)
            total = builder.load(sums[0])
            for place in sums[1:]:
                total = builder.add(total, builder.load(place))
            return _lanes_added(builder, total)

        return types.int32(numbers), emit

    @njit
    def run(numbers, turns):
        total = 0
        for _ in range(turns):
            total += loop(numbers)
        return total

    run(aligned("int32", UNROLL * width // 8), 1)
    return run


@cache
def copy(width: int) -> Callable[[np.ndarray, np.ndarray, int], None]:
    """The box for loads and stores, of arrays of int32."""
    from numba import njit, types
    from numba.extending import intrinsic

    vector = _vector("int32", width)

    @intrinsic
    def loop(typing: Any, numbers: Any, out: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            make = context.make_array(signature.args[0])
            source, target = (make(context, builder, value) for value in args)
            with _blocks(builder, source.nitems, vector) as start:
                for step in range(UNROLL):
                    item = builder.load(_at(builder, source.data, start, step, vector), align=4)
                    builder.store(item, _at(builder, target.data, start, step, vector), align=4)
            return context.get_dummy_value()

        return types.void(numbers, out), emit

    @njit
    def run(numbers, out, turns):
        for _ in range(turns):
            loop(numbers, out)

    length = UNROLL * width // 8
    run(aligned("int32", length), aligned("int32", length), 1)
    return run


def _vector(dtype: str, width: int) -> Any:
    from llvmlite import ir

    element = {"float32": ir.FloatType(), "float64": ir.DoubleType(), "int32": ir.IntType(32)}
    return ir.VectorType(element[dtype], width // (8 * np.dtype(dtype).itemsize))


def _fma(builder: Any, a: Any, b: Any, c: Any, fused: bool) -> Any:
    """a * b + c in each lane."""
    if not fused:
        return builder.fadd(builder.fmul(a, b), c)
    from llvmlite import ir
    from numba.core import cgutils

    kind = ir.FunctionType(a.type, [a.type] * 3)
    bits = 32 if isinstance(a.type.element, ir.FloatType) else 64
    name = f"llvm.fma.v{a.type.count}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def _blocks(builder: Any, items: Any, vector: Any) -> Any:
    """A loop over an array in blocks of UNROLL vectors; gives the index of the block's start."""
    from contextlib import contextmanager

    from numba.core import cgutils

    @contextmanager
    def blocks() -> Any:
        length = items.type(UNROLL * vector.count)
        with cgutils.for_range(builder, builder.sdiv(items, length)) as loop:
            yield builder.mul(loop.index, length)

    return blocks()


def _at(builder: Any, data: Any, start: Any, step: int, vector: Any) -> Any:
    """Where vector `step` of a block begins.

    Loads through it say align=4: left to itself LLVM takes a vector's own size for granted, and
    an array that lies otherwise ends the process.
    """
    index = builder.add(start, start.type(step * vector.count))
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _lanes_added(builder: Any, vector: Any) -> Any:
    """One number in which every lane counts, so that none is optimised away."""
    from llvmlite import ir

    add = builder.add if isinstance(vector.type.element, ir.IntType) else builder.fadd
    lanes = [builder.extract_element(vector, ir.IntType(32)(i)) for i in range(vector.type.count)]
    total = lanes[0]
    for lane in lanes[1:]:
        total = add(total, lane)
    return total

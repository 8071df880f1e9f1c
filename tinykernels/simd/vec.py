# Built from module 08_simd by tito export; edit the module, not this file.
"""Vector registers for Numba: a type that holds VL floats, and what can be done with them.

LLVM, Numba's compiler, knows vectors: the type <16 x float> is one register with AVX-512, and on
a CPU with narrower ones LLVM would take several. Each function here is an "intrinsic": instead of
a body it has a function `emit` that writes LLVM instructions into the kernel that calls it.
"""

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

__all__ = [
    "REGISTERS",
    "VL",
    "Vec",
    "axpy_part",
    "axpy_vec",
    "cpu_features",
    "kernel",
    "vadd",
    "vbcast",
    "vector_unit",
    "vfma",
    "vload",
    "vsplat",
    "vstore",
    "vzero",
]


# 08_simd: kernel, cpu_features, vector_unit
# Sums may be reordered and products fused, but NaN and infinity keep their meaning.
kernel = njit(error_model="numpy", fastmath={"reassoc", "contract"})


def cpu_features():
    """Names of the CPU features that Numba compiles for; NUMBA_CPU_FEATURES can take some away."""
    if config.CPU_FEATURES is not None:
        return {part[1:] for part in config.CPU_FEATURES.split(",") if part.startswith("+")}
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:
        return set()
    return {name for name, there in found.items() if there and _allowed(name)}


def _allowed(name):
    return config.ENABLE_AVX or not name.startswith("avx")


def vector_unit(features):
    """(floats in a register, registers) of a CPU with these features.

    >>> vector_unit({"avx2", "fma"})
    (8, 16)
    """
    if "avx512f" in features:
        return 16, 32
    if {"avx2", "fma"} <= features:
        return 8, 16
    return 4, 32 if "neon" in features else 16


VL, REGISTERS = vector_unit(cpu_features())
_FLOATS = ir.VectorType(ir.FloatType(), VL)


class Vec(types.Type):
    """The Numba type of a vector register."""

    def __init__(self):
        super().__init__(name=f"Vec({VL})")


_vec = Vec()


@register_model(Vec)
class _VecModel(models.PrimitiveModel):
    """A Vec is kept as LLVM's own vector, so that it lives in a register."""

    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _FLOATS)


def _check_array(x):
    """TypingError unless a kernel may address the floats of x one after the other."""
    if not (isinstance(x, types.Array) and x.dtype == types.float32 and x.layout == "C"):
        raise TypingError(f"vectors are loaded from contiguous float32 arrays, not from {x}")


def _address(context, builder, array_type, x, i, pointer=None):
    """Where the i-th float of x lies; as another kind of pointer if one is given."""
    data = context.make_array(array_type)(context, builder, x).data
    place = builder.gep(data, [i])
    return builder.bitcast(place, pointer) if pointer else place


def _in_all_lanes(builder, number):
    """The number put into lane 0, and lane 0 into all others."""
    lane, anything = ir.IntType(32), ir.Constant(_FLOATS, ir.Undefined)
    first = builder.insert_element(anything, number, ir.Constant(lane, 0))
    every_lane_from_0 = ir.Constant(ir.VectorType(lane, VL), None)
    return builder.shuffle_vector(first, anything, every_lane_from_0)


@intrinsic
def vzero(typing):
    """VL zeros."""

    def emit(context, builder, signature, args):
        return ir.Constant(_FLOATS, None)

    return _vec(), emit


# A load or store without align=4 would be one that faults unless the address is a multiple of the
# register's width.
@intrinsic
def vload(typing, x, i):
    """The VL floats of x from its i-th on."""
    _check_array(x)

    def emit(context, builder, signature, args):
        place = _address(context, builder, signature.args[0], *args, _FLOATS.as_pointer())
        return builder.load(place, align=4)

    return _vec(x, types.intp), emit


@intrinsic
def vstore(typing, x, i, v):
    """Write v over the VL floats of x from its i-th on."""
    _check_array(x)
    if not x.mutable:
        raise TypingError("x is read-only")

    def emit(context, builder, signature, args):
        x, i, v = args
        place = _address(context, builder, signature.args[0], x, i, _FLOATS.as_pointer())
        builder.store(v, place, align=4)
        return context.get_dummy_value()

    return types.void(x, types.intp, _vec), emit


@intrinsic
def vbcast(typing, x, i):
    """The i-th float of x in all VL lanes."""
    _check_array(x)

    def emit(context, builder, signature, args):
        number = builder.load(_address(context, builder, signature.args[0], *args))
        return _in_all_lanes(builder, number)

    return _vec(x, types.intp), emit


@intrinsic
def vsplat(typing, number):
    """A number in all VL lanes."""

    def emit(context, builder, signature, args):
        return _in_all_lanes(builder, args[0])

    return _vec(types.float32), emit


@intrinsic
def vadd(typing, u, v):
    """u + v, lane by lane."""

    def emit(context, builder, signature, args):
        return builder.fadd(*args)

    return _vec(_vec, _vec), emit


@intrinsic
def vfma(typing, u, v, w):
    """u * v + w, lane by lane: one instruction where the CPU has it, two where not."""

    def emit(context, builder, signature, args):
        shape = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
        name = f"llvm.fmuladd.v{VL}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, shape, name), args)

    return _vec(_vec, _vec, _vec), emit


# 08_simd: axpy_vec
@kernel
def axpy_vec(alpha, x, y):
    """Add alpha * x to y.

        y[i] += alpha * x[i]

    alpha : float32
    x, y  : (n,) contiguous float32; y is changed, and nothing beyond its ends
    """
    n = len(x)
    whole = n - n % VL
    factor = vsplat(alpha)
    for i in range(0, whole, VL):
        vstore(y, i, vfma(factor, vload(x, i), vload(y, i)))
    for i in range(whole, n):
        y[i] += alpha * x[i]


def axpy_part(alpha, x, out, start, stop):
    """axpy_vec on the elements from start to stop of two contiguous vectors; returns out."""
    axpy_vec(np.float32(alpha), x[start:stop], out[start:stop])
    return out

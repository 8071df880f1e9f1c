# Built from module 09_quantize by tito export; edit the module, not this file.
"""Whole numbers in vector registers: lanes of 32 bits, and four products of bytes added to each.

As in simd.vec each function is an "intrinsic" that writes LLVM instructions into the kernel that
calls it. The CPU's instruction for bytes is used where the CPU says that it has it: on another one
it would end Python at once.
"""

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from tinykernels.simd.vec import VL, Vec, cpu_features

__all__ = [
    "DOT",
    "IntVec",
    "dot_form",
    "fetch",
    "half_bytes",
    "iadd",
    "ibcast",
    "ifloat",
    "ihalf",
    "iload",
    "istore",
    "izero",
    "vdp4",
]


# 09_quantize: IntVec, dot_form, DOT
_LANE = ir.IntType(32)
_INTS = ir.VectorType(_LANE, VL)
_FLOATS = ir.VectorType(ir.FloatType(), VL)
_SHORTS = ir.VectorType(ir.IntType(16), 2 * VL)
_BYTES = ir.VectorType(ir.IntType(8), 4 * VL)


class IntVec(types.Type):
    """The Numba type of a vector register that holds VL int32."""

    def __init__(self):
        super().__init__(name=f"IntVec({VL})")


_ivec = IntVec()


@register_model(IntVec)
class _IntVecModel(models.PrimitiveModel):
    """Kept as LLVM's own vector, so that it lives in a register."""

    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _INTS)


def dot_form(features, vl=VL):
    """How four products of bytes are added to a lane on a CPU with these features.

    returns "vnni", one instruction; "pairs", two products of 16 bits at a time; or "plain"

    >>> dot_form({"avx2", "fma"}, 8)
    'pairs'
    """
    needs = {16: {"avx512f", "avx512vnni"}, 8: {"avx2", "avxvnni"}}
    if vl in needs and needs[vl] <= features:
        return "vnni"
    pairs = {16: {"avx512f", "avx512bw"}, 8: {"avx2"}}
    return "pairs" if vl in pairs and pairs[vl] <= features else "plain"


DOT = dot_form(cpu_features())


def _check_ints(x):
    if not (isinstance(x, types.Array) and x.dtype == types.int32 and x.layout == "C"):
        raise TypingError(f"lanes are loaded from contiguous int32 arrays, not from {x}")


def _place(context, builder, array_type, x, i):
    return builder.gep(context.make_array(array_type)(context, builder, x).data, [i])


def _in_all_lanes(builder, number):
    anything = ir.Constant(_INTS, ir.Undefined)
    first = builder.insert_element(anything, number, ir.Constant(_LANE, 0))
    return builder.shuffle_vector(first, anything, ir.Constant(_INTS, None))


@intrinsic
def izero(typing):
    """VL zeros."""

    def emit(context, builder, signature, args):
        return ir.Constant(_INTS, None)

    return _ivec(), emit


@intrinsic
def iload(typing, x, i):
    """The VL int32 of x from its i-th on."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args)
        return builder.load(builder.bitcast(place, _INTS.as_pointer()), align=4)

    return _ivec(x, types.intp), emit


@intrinsic
def istore(typing, x, i, v):
    """Write v over the VL int32 of x from its i-th on."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        x, i, v = args
        place = _place(context, builder, signature.args[0], x, i)
        builder.store(v, builder.bitcast(place, _INTS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(x, types.intp, _ivec), emit


@intrinsic
def ibcast(typing, x, i):
    """The i-th int32 of x in all VL lanes."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        number = builder.load(_place(context, builder, signature.args[0], *args))
        return _in_all_lanes(builder, number)

    return _ivec(x, types.intp), emit


@intrinsic
def fetch(typing, x, i):
    """Ask for the cache line of the i-th int32 of x, soon to be written; i may lie beyond."""
    _check_ints(x)

    def emit(context, builder, signature, args):
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(_place(context, builder, signature.args[0], *args), byte)
        shape = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        builder.call(function, [place, flag(1), flag(3), flag(1)])  # to write, to keep, of data
        return context.get_dummy_value()

    return types.void(x, types.intp), emit


def _constant(shape, number):
    return ir.Constant(shape, [number] * shape.count)


def _call(builder, name, result, *args):
    shape = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, shape, name), args)


def _vnni(builder, acc, a, b):
    name = f"llvm.x86.avx512.vpdpbusd.{32 * VL}"
    if llvm.llvm_version_info >= (22,):  # before, its operands were lanes, not bytes
        a, b = builder.bitcast(a, _BYTES), builder.bitcast(b, _BYTES)
    return _call(builder, name, _INTS, acc, a, b)


def _pairs(builder, acc, a, b):
    """Bytes 0 and 2 of each lane, then 1 and 3, as numbers of 16 bits, which CPUs multiply."""
    name = {16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd"}[VL]
    a, b = builder.bitcast(a, _SHORTS), builder.bitcast(b, _SHORTS)
    eight = _constant(_SHORTS, 8)
    even = builder.and_(a, _constant(_SHORTS, 255)), builder.ashr(builder.shl(b, eight), eight)
    odd = builder.lshr(a, eight), builder.ashr(b, eight)
    for u, v in (even, odd):
        acc = builder.add(acc, _call(builder, name, _INTS, u, v))
    return acc


def _plain(builder, acc, a, b):
    for q in range(4):
        low, up = _constant(_INTS, 8 * q), _constant(_INTS, 8 * (3 - q))
        left = builder.and_(builder.lshr(a, low), _constant(_INTS, 255))
        right = builder.ashr(builder.shl(b, up), _constant(_INTS, 24))
        acc = builder.add(acc, builder.mul(left, right))
    return acc


_EMIT = {"vnni": _vnni, "pairs": _pairs, "plain": _plain}


@intrinsic
def vdp4(typing, a, b, acc):
    """acc + the four products of bytes of a (0 to 255) and b (-128 to 127), in each lane."""

    def emit(context, builder, signature, args):
        a, b, acc = args
        return _EMIT[DOT](builder, acc, a, b)

    return _ivec(_ivec, _ivec, _ivec), emit


@intrinsic
def iadd(typing, u, v):
    """u + v, lane by lane; sums wrap around at 2**31."""

    def emit(context, builder, signature, args):
        return builder.add(*args)

    return _ivec(_ivec, _ivec), emit


@intrinsic
def ifloat(typing, v):
    """Each lane as a float."""

    def emit(context, builder, signature, args):
        return builder.sitofp(args[0], _FLOATS)

    return Vec()(_ivec), emit


@intrinsic
def half_bytes(typing, v, shift):
    """The low four bits of each byte (shift 0) or the high ones (shift 4), as a byte."""
    if not isinstance(shift, types.IntegerLiteral):
        raise TypingError("shift is written as a number, 0 or 4")
    number = shift.literal_value

    def emit(context, builder, signature, args):
        moved = builder.lshr(args[0], _constant(_INTS, number))
        return builder.and_(moved, _constant(_INTS, 0x0F0F0F0F))

    return _ivec(_ivec, shift), emit


@intrinsic
def ihalf(typing, v, shift):
    """The float16 in the low half of each lane (shift 0), or in the high one (16), as a float.

    Its exponent counts from -15 and that of a float from -127: the product with 2**112 sets that
    right, also for the smallest numbers. Infinity and NaN are none of our scales.
    """
    if not isinstance(shift, types.IntegerLiteral):
        raise TypingError("shift is written as a number, 0 or 16")
    number = shift.literal_value

    def emit(context, builder, signature, args):
        top = builder.shl(args[0], _constant(_INTS, 16 - number))
        sign = builder.and_(top, _constant(_INTS, 0x80000000))
        bits = builder.and_(builder.lshr(top, _constant(_INTS, 3)), _constant(_INTS, 0x0FFFE000))
        size = builder.fmul(builder.bitcast(bits, _FLOATS), _constant(_FLOATS, 2.0**112))
        signed = builder.or_(builder.bitcast(size, _INTS), sign)
        return builder.bitcast(signed, _FLOATS)

    return Vec()(_ivec, shift), emit

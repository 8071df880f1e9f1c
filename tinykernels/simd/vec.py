# Built from module 08_simd by tito export; edit the module, not this file.
"""Vector registers for Numba: a type that holds VL floats, and what can be done with them.

LLVM, Numba's compiler, knows vectors: the type <16 x float> is one register with AVX-512, and on
a CPU with narrower ones LLVM would take several. Each call below is written twice. The Python
function says what it does, with an array of VL floats as the vector; `py_func` of a kernel runs
that, and every index is looked at. What stands under `@compiles` writes the LLVM instructions that
take its place in a compiled kernel, where nobody looks.
"""

import functools
import inspect
from types import CellType, FunctionType

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import lower_builtin, models, register_model, type_callable

from tinykernels.simd.refused import Lanes, Register

__all__ = [
    "REGISTERS",
    "VL",
    "Vec",
    "compiles",
    "cpu_features",
    "in_python",
    "vadd",
    "vbcast",
    "vector_unit",
    "vfma",
    "vload",
    "vsplat",
    "vstore",
    "vzero",
]


# 08_simd: cpu_features, vector_unit, VL
def cpu_features():
    """Names of the CPU features that Numba compiles for; NUMBA_CPU_FEATURES can take some away."""
    if config.CPU_FEATURES is not None:
        return {part[1:] for part in config.CPU_FEATURES.split(",") if part.startswith("+")}
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:
        return set()
    return {n for n, there in found.items() if there and (config.ENABLE_AVX or n[:3] != "avx")}


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


class Vec(Register):
    """The Numba type of a vector register."""

    def __init__(self):
        super().__init__(name=f"Vec({VL})")


_vec = Vec()


@register_model(Vec)
class _VecModel(models.PrimitiveModel):
    """A Vec is kept as LLVM's own vector, so that it lives in a register."""

    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _FLOATS)


def compiles(function):
    """Decorator: what Numba makes of a Python function.

    It is told by a function of the argument types, (signature, emit); emit writes instructions.
    """

    def register(define):
        define.__qualname__ = function.__name__  # for Python's word on a missing argument

        def types_of(*arguments):
            signature, emit = define(*arguments)
            lower_builtin(function, *signature.args)(emit)
            return signature

        types_of.pysig = inspect.signature(function)
        type_callable(function)(lambda context: types_of)

    return register


def _part(x, i, number):
    """The floats of x from its i-th on; IndexError where there are not so many."""
    if not (x.flags.c_contiguous and x.dtype == np.float32):
        raise TypeError("vectors are loaded from contiguous float32 arrays")
    floats = x.reshape(-1)
    if not 0 <= i <= len(floats) - number:
        whose = "a vector" if number == VL else "a float"
        raise IndexError(f"{whose} from float {i} on, in an array of {len(floats)} floats")
    return floats[i : i + number]


def _check_place(x, i):
    """TypeError unless a kernel may address the floats of x one after the other, from the i-th."""
    if not (isinstance(x, types.Array) and x.dtype == types.float32 and x.layout == "C"):
        raise TypeError(f"vectors are loaded from contiguous float32 arrays, not from {x}")
    if not isinstance(i, types.Integer):
        raise TypeError(f"a place in an array is a whole number, not {i}")


def _address(context, builder, array_type, x, i, pointer=None):
    """Where the i-th float of x lies; as another kind of pointer if one is given."""
    place = builder.gep(context.make_array(array_type)(context, builder, x).data, [i])
    return builder.bitcast(place, pointer) if pointer else place


def _in_all_lanes(builder, number):
    """The number put into lane 0, and lane 0 into all others."""
    lane, anything = ir.IntType(32), ir.Constant(_FLOATS, ir.Undefined)
    first = builder.insert_element(anything, number, ir.Constant(lane, 0))
    every_lane_from_0 = ir.Constant(ir.VectorType(lane, VL), None)
    return builder.shuffle_vector(first, anything, every_lane_from_0)


def _check_vectors(*found):
    """TypeError where a number stands for a vector, in plain Python and in a compiled kernel."""
    if not all(isinstance(one, np.ndarray | Vec) for one in found):
        raise TypeError("vadd, vfma and vstore take vectors: vsplat(f) makes one of a number f")


def vzero():
    """VL zeros."""
    return np.zeros(VL, np.float32).view(Lanes)


@compiles(vzero)
def _():
    return _vec(), lambda context, builder, signature, args: ir.Constant(_FLOATS, None)


def vload(x, i):
    """The VL floats of x from its i-th on."""
    return _part(x, i, VL).copy().view(Lanes)


# Without align=4 a load or store would fault at what is no multiple of the register's width.
@compiles(vload)
def _(x, i):
    _check_place(x, i)

    def emit(context, builder, signature, args):
        place = _address(context, builder, signature.args[0], *args, _FLOATS.as_pointer())
        return builder.load(place, align=4)

    return _vec(x, types.intp), emit


def vstore(x, i, v):
    """Write v over the VL floats of x from its i-th on."""
    _check_vectors(v)
    _part(x, i, VL)[:] = v


@compiles(vstore)
def _(x, i, v):
    _check_place(x, i)
    _check_vectors(v)
    if not x.mutable:
        raise TypeError("x is read-only")

    def emit(context, builder, signature, args):
        x, i, v = args
        place = _address(context, builder, signature.args[0], x, i, _FLOATS.as_pointer())
        builder.store(v, place, align=4)
        return context.get_dummy_value()

    return types.void(x, types.intp, _vec), emit


def vbcast(x, i):
    """The i-th float of x in all VL lanes."""
    return np.repeat(_part(x, i, 1), VL).view(Lanes)


@compiles(vbcast)
def _(x, i):
    _check_place(x, i)

    def emit(context, builder, signature, args):
        number = builder.load(_address(context, builder, signature.args[0], *args))
        return _in_all_lanes(builder, number)

    return _vec(x, types.intp), emit


def _check_number(found):
    if isinstance(found, np.ndarray | types.Array | Vec):
        raise TypeError("vsplat makes a vector of one number")


def vsplat(number):
    """A number in all VL lanes."""
    _check_number(number)
    return np.full(VL, number, np.float32).view(Lanes)


@compiles(vsplat)
def _(number):
    _check_number(number)

    def emit(context, builder, signature, args):
        return _in_all_lanes(builder, args[0])

    return _vec(types.float32), emit


def vadd(u, v):
    """u + v, lane by lane."""
    _check_vectors(u, v)
    return (np.asarray(u) + np.asarray(v)).view(Lanes)


@compiles(vadd)
def _(u, v):
    _check_vectors(u, v)
    return _vec(_vec, _vec), lambda context, builder, signature, args: builder.fadd(*args)


def vfma(u, v, w):
    """u * v + w, lane by lane: one instruction where the CPU has it, two where not."""
    _check_vectors(u, v, w)
    return (np.asarray(u) * np.asarray(v) + np.asarray(w)).view(Lanes)


@compiles(vfma)
def _(u, v, w):
    _check_vectors(u, v, w)

    def emit(context, builder, signature, args):
        shape = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
        name = f"llvm.fmuladd.v{VL}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, shape, name), args)

    return _vec(_vec, _vec, _vec), emit


def in_python(function, **others):
    """The function with none of its kernels compiled, nor those that it calls.

    It gives the same, slowly, and a kernel that leaves its array raises an IndexError there.
    others : what takes the place of some names in it, to see how they are used
    """
    spaces, copies = {}, {}

    def plain(value):
        inner = getattr(value, "py_func", value)
        if isinstance(value, functools._lru_cache_wrapper):
            inner = value.__wrapped__
        if not isinstance(inner, FunctionType) or "kernel" not in inner.__globals__:
            return value
        if inner not in copies:
            copies[inner] = copied(inner)
        return copies[inner]

    def copied(inner):
        known, names = inner.__globals__, spaces.setdefault(id(inner.__globals__), {})
        # Under another name, too: `store = vstore`.
        instead = {id(known[n]): v for n, v in others.items() if callable(known.get(n))}

        def seen(value):
            return instead.get(id(value)) or plain(value)

        cells = tuple(CellType() for _ in inner.__closure__ or ())
        defaults = tuple(map(seen, inner.__defaults__ or ())) or None
        copies[inner] = FunctionType(inner.__code__, names, inner.__name__, defaults, cells or None)
        for cell, theirs in zip(cells, inner.__closure__ or ()):
            cell.cell_contents = seen(theirs.cell_contents)
        if not names:
            names["kernel"] = lambda written: written
            names |= {n: seen(v) for n, v in known.items() if n != "kernel"}
            names |= others
        return copies[inner]

    return plain(function)

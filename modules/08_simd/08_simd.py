# ---
# jupyter:
#   jupytext:
#     cell_markers: '"""'
#     cell_metadata_filter: nbgrader,tags,jupyter,-all
#     comment_magics: false
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
"""
# 08 SIMD: your own GEMM beside OpenBLAS

| | |
|---|---|
| hours | 6 |
| difficulty | 5 of 5 |
| needs | 05_blocking, 07_numba |
| code goes to | `tinykernels/simd/` (vec, microkernel, packing, macrokernel, matrices, blocked, gemm) |
| points | 44 by tests, 6 by hand |

After this module you can

- write a kernel in vector registers, in Python syntax, and know how many registers it takes;
- say how many independent sums a core needs to be busy, and why;
- pack matrices so that the innermost loop reads memory in one straight line;
- put the five loops of a modern BLAS around that kernel, and leave them out where they cost more than they bring.

At the end `gemm(a, b)` multiplies float32 matrices of any shape, beside the library that NumPy calls.

*The text of this module is licensed CC BY 4.0, its code Apache-2.0, by the TinyKernels authors.*
"""

# %%
try:
    import tito.here  # the package of this course folder comes first; prints nothing
except ModuleNotFoundError:
    raise ImportError(
        "This notebook runs in a Python that does not know this course: choose the course's "
        "kernel (Kernel, Change Kernel), or run `tito doctor` in a terminal."
    ) from None

# %% [markdown]
"""
## An instruction set to read once

A vector register holds `VL` floats: 16 with AVX-512, 8 with AVX2, 4 elsewhere. Numba has no such type, and its compiler decides by itself what becomes a vector. The next cell adds the type and seven operations, each written twice: in Python, which says what it does, and in the compiler's instructions. You need not know how they are made; you need this table:

| call | gives |
|---|---|
| `vzero()` | `VL` zeros |
| `vload(x, i)` | the `VL` floats of `x` from its `i`-th on |
| `vbcast(x, i)` | the `i`-th float of `x`, `VL` times |
| `vsplat(f)` | the number `f`, `VL` times |
| `vadd(u, v)` | the sum, lane by lane |
| `vfma(u, v, w)` | `u * v + w`, lane by lane, one instruction |
| `vstore(x, i, v)` | writes `v` over the `VL` floats of `x` from its `i`-th on |

Vectors have no `*`, no `+` and no other operator, no index and no loop over their floats; functions of NumPy and lists do not take them. A number is no vector until `vsplat` has made one of it. A kernel that tries is told in one line what to write.

`x` is a contiguous float32 array with any number of axes, and `i` counts its floats in the order in which they lie in memory: `i = 0` is the first. **In a compiled kernel nobody looks whether `i` is inside the array.** Like in C, a load behind the end reads what is there, and a store behind the end destroys it. In plain Python somebody does: `axpy_vec.py_func(...)` runs your kernel line by line, as in 07, with arrays of `VL` floats as vectors, and a vector that reaches over the end is an `IndexError`. `in_python(f)` gives you a function `f` with none of the kernels in it compiled. The tests run your kernels that way first; do the same when something is odd.

Two numbers of your CPU come with them: `VL`, and `REGISTERS`, how many vector registers there are.
"""

# %% jupyter={"source_hidden": true}
#| default_exp simd.gemm
#| export simd.refused
"""What a vector is not, in one line each, for compiled kernels and for plain Python.

Numba would answer v[0] or np.sqrt(v) with a page: every form of the function that it knows, and why
none fits. So the functions that somebody may try get one form more here, which raises the line.
"""

import math
import operator
from types import BuiltinFunctionType

import numpy as np
from numba import types
from numba.core.ir import Print
from numba.core.rewrites import Rewrite, register_rewrite
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import box, overload

NO_ARITHMETIC = (
    "vectors have no operators, and math and NumPy do not know them: "
    "write vadd(u, v), vfma(u, v, w), vsplat(f)"
)
NO_ARRAY = "a vector is neither a number nor an array: vstore(x, i, v) writes its floats into one"
NO_LIST = "a list or an array cannot hold vectors: give each a name of its own"
NO_PRINT = "a compiled kernel cannot print a vector: its py_func, plain Python, can"
ONE_KIND = "a name holds a vector or something else, not both: a sum of vectors begins with vzero()"


class Register(types.IterableType):
    """A Numba type whose values are vectors; this one form refuses loops, lists and unpacking."""

    @property
    def iterator_type(self):
        raise TypeError(NO_ARRAY)

    def unify(self, context, other):
        """Asked where a name, or the elements of a list, would be of this type and another one."""
        raise TypeError(ONE_KIND)


def _refusal(line):
    """A function that raises the line where an argument is a vector, or the type of one."""

    def refuse(*found, **options):
        if any(isinstance(one, Lanes | Register) for one in found):
            raise TypeError(line)

    return refuse


_arithmetic, _array = _refusal(NO_ARITHMETIC), _refusal(NO_ARRAY)


def _item(container, *others):
    """What is said of container[i] and container[i] = v."""
    _refusal(NO_LIST if isinstance(container, types.List) else NO_ARRAY)(container, *others)


class Lanes(np.ndarray):
    """A vector in plain Python: an array of floats, to which the same is refused."""

    __array_ufunc__ = __array_function__ = _arithmetic
    __getitem__ = __setitem__ = __delitem__ = __iter__ = __len__ = _array
    __bool__ = __float__ = __int__ = __index__ = __round__ = _array

    def __str__(self):
        return str(np.asarray(self))


def _functions(space, kind=BuiltinFunctionType):
    return {value for value in vars(space).values() if isinstance(value, kind)}


_REDUCTIONS = "sum prod mean min max argmin argmax any all cumsum sort dot vdot inner outer"
_OTHERS = "where clip round array asarray copy zeros_like ones_like empty_like full_like"
_OF_NUMPY = {getattr(np, name) for name in f"{_REDUCTIONS} {_OTHERS}".split()} | {np.linalg.norm}
_ARITHMETIC = _functions(operator) | _functions(math) | _functions(np, np.ufunc) | _OF_NUMPY
_ARITHMETIC |= {abs, min, max, sum, pow, round, divmod}
_NUMBERS_AND_ARRAYS = {operator.truth, operator.not_, len, float, int, complex, range}
_ITEMS = {operator.getitem, operator.setitem, operator.delitem}

_REFUSED = dict.fromkeys(_ARITHMETIC, _arithmetic)
_REFUSED |= dict.fromkeys(_NUMBERS_AND_ARRAYS, _array) | dict.fromkeys(_ITEMS, _item)
for _one, _refuse in _REFUSED.items():
    overload(_one)(_refuse)


@infer_getattr
class _NoAttributes(AttributeTemplate):
    """What Numba asks for v.sum, v.shape and any other attribute."""

    key = Register

    def generic_resolve(self, value, name):
        raise TypeError(NO_ARRAY)


@box(Register)
def _(kind, value, compiler):
    """What Numba writes into a kernel that returns a vector: it is raised where Python calls it."""
    compiler.pyapi.err_set_string("PyExc_TypeError", NO_ARRAY)
    return compiler.pyapi.get_null_object()


@register_rewrite("after-inference")
class _NoContainers(Rewrite):
    """A look at a kernel all of whose types are known.

    The memory of a list begins where it will; a vector is stored there as if at a multiple of its
    size, and the process dies.
    """

    def match(self, kernel, block, typemap, calls):
        for one in typemap.values():
            parts = [getattr(one, name, None) for name in ("dtype", "item_type", "value_type")]
            if not isinstance(one, types.BaseTuple) and any(isinstance(p, Register) for p in parts):
                raise TypeError(NO_LIST)
        for inst in block.find_insts(Print):
            if any(isinstance(typemap[one.name], Register) for one in inst.args):
                raise TypeError(NO_PRINT)
        return False


# %% jupyter={"source_hidden": true}
#| export simd.vec
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

from tinykernels.jit import kernel


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


# %% jupyter={"source_hidden": true}
#| export
import functools

import numpy as np

from tinykernels.jit import matmul_registers
from tinykernels.loops import check_count, check_float_array

# %% jupyter={"source_hidden": true}
#| export simd.microkernel
import ast
import functools
import linecache

# %% jupyter={"source_hidden": true}
#| export simd.packing
import math
import sys
import threading

from llvmlite import ir

# %% jupyter={"source_hidden": true}
# Given: what the tests and measurements below use.
from functools import partial
from itertools import product

from tinykernels import jit
from tito.checks import (
    CheckFailed,
    all_code,
    claim,
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_unchanged,
    inner_loops,
    points,
    rng,
    speed,
)


def ramp(*shape, seed=0, dtype=np.float32):
    """Quarters from -3.75 to 3.75 in mixed order: exact in float32 and float64."""
    steps = 7 * np.arange(math.prod(shape)) + 5 * seed
    return ((steps % 31 - 15) / 4).astype(dtype).reshape(shape)


def layouts(x):
    """(name, array) pairs: the values of x in every layout that a caller may hand in."""
    every_second = (slice(1, None, 2),) * x.ndim
    stepped = np.full([2 * n + 1 for n in x.shape], 99, x.dtype)[every_second]
    stepped[...] = x
    inside = np.full([n + 3 for n in x.shape], 99, x.dtype)[(slice(1, -2),) * x.ndim]
    inside[...] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    yield "C order", x.copy()
    yield "Fortran order", x.copy(order="F")
    yield "a block of a larger array", inside
    yield "every second element of a larger array", stepped
    yield "a reversed view", np.flip(np.flip(x).copy())
    yield "a read-only array", frozen
    yield "an unaligned array", unaligned


def product_spec(a, b):
    """The product of two matrices in float64: the sum of k outer products."""
    total = np.zeros((len(a), b.shape[1]))
    for p in range(a.shape[1]):
        total += np.multiply.outer(a[:, p].astype(np.float64), b[p].astype(np.float64))
    return total


def tile_spec(pa, pb):
    """The product that a microkernel adds to C, given its panels (kc, mr) and (kc, nr)."""
    return product_spec(pa.T, pb)


# %% jupyter={"source_hidden": true}
# Given: plots that read on light and on dark pages.
BLUE, ORANGE, GREEN, RED = "#56B4E9", "#E69F00", "#009E73", "#D55E00"


# %% jupyter={"source_hidden": true}
# Given: what the compiler made of a kernel.
import re


def registers_kept(assembly):
    """(vector multiply-adds in the busiest loop, whether it stores no vector, what is wrong)."""
    loops = [loop for loop in inner_loops(assembly) if loop.bits >= 32 * VL]
    busiest = max(loops, key=lambda loop: loop.multiplies, default=all_code(""))
    fused = busiest.multiplies
    store = r"v?mov[au]p[sd]\s+%\wmm\d+, .*\(|st[pr]\s+q"
    stores = sum(bool(re.match(store, line)) for line in busiest.lines)
    if fused < 4:
        return fused, False, f"the loop over p has {fused} vector multiply-adds of 4: use vfma"
    if stores:
        problem = (
            f"the loop over p stores vectors ({stores} stores, after the compiler wrote out several "
            "steps): keep the sums in four names"
        )
        return fused, False, problem
    return fused, True, ""


# %% [markdown]
"""
## The gap

One core can start some fused multiply-adds in each cycle: that is its peak. The cell measures it, and beside it the best product so far, `matmul_registers` of 07.

For the peak it adds up 1, 2, 4, ... independent sums side by side, each of 4096 vector multiply-adds, one after the other.

**Predict.** Twelve sums are twelve times the work of one. From how many on do more sums take more time, so that the rate stops growing? Write a number down, then run the cell.
"""


# %% tags=["raises-exception"]
#| measure
from tito.machine import facts, time_call


def chains(number):
    """A kernel with `number` sums side by side, 4096 steps each."""
    names = [f"c{i}" for i in range(number)]
    lines = ["def run(x, y):", *(f"    {c} = vload(y, {i} * VL)" for i, c in enumerate(names))]
    lines += ["    v = vload(x, 0)", "    for step in range(4096):"]
    lines += [f"        {c} = vfma({c}, v, v)" for c in names]
    lines += [f"    vstore(y, {i} * VL, {c})" for i, c in enumerate(names)]
    space = dict(globals())
    exec("\n".join(lines), space)
    return kernel(space["run"])


x, y = np.full(VL, 0.5, np.float32), np.zeros(16 * VL, np.float32)
rates = {}
for number in (1, 2, 4, 8, 12):
    seconds = time_call(chains(number), x, y).median
    rates[number] = 2 * VL * 4096 * number / seconds / 1e9
print(f"{facts().cpu}: {VL} floats in a register, {REGISTERS} registers\n")
print("independent sums   GFLOP/s")
for number, rate in rates.items():
    print(f"{number:16}{rate:10.0f}   " + "#" * round(40 * rate / max(rates.values())))
try:
    a = b = ramp(256, 256)
    seconds = time_call(jit.matmul_registers, a, b).median
    tiles = 2 * 256**3 / seconds / 1e9
    print(f"\nmatmul_registers, 256 x 256: {tiles:.0f} GFLOP/s, {tiles / max(rates.values()):.0%}")
except NotImplementedError as error:
    print(f"\nmatmul_registers is left out: {error}")

# %% [markdown]
"""
A multiply-add takes about four cycles until its result is there (its *latency*), but the core starts one or two in each cycle (its *throughput*). A sum that needs its own last value waits out the latency; other sums can be started meanwhile. So a core with two units and four cycles wants eight sums, one with a single unit wants four, and a few more do no harm. Which of them is yours? Your table says it: the core is busy from the row on after which the rate hardly grows. (Among the CPUs with 512-bit vectors there are both kinds; some have two narrower units that work as one.)

Here are two units as conveyor belts, each box one multiply-add on its way. A core with a single unit has the upper belt only, and four sums fill it.
"""

# %% jupyter={"source_hidden": true} tags=["raises-exception"]
#| measure
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle


def conveyor(axes, sums):
    """Two belts of four places: which of 12 cycles are used by that many sums."""
    free = {}
    for cycle in range(12):
        for belt in range(2):
            waiting = [s for s in range(sums) if free.get(s, 0) <= cycle]
            place = (cycle, 1 - belt)
            if not waiting:
                axes.add_patch(Rectangle(place, 0.9, 0.8, fill=False, ec="gray", ls=":"))
                continue
            chosen = min(waiting, key=lambda s: free.get(s, 0))
            free[chosen] = cycle + 4
            axes.add_patch(Rectangle(place, 0.9, 0.8, fc=(BLUE, ORANGE)[chosen % 2], ec="gray"))
            axes.text(cycle + 0.45, 1.4 - belt, chosen + 1, ha="center", va="center")
    axes.set(xlim=(0, 12), ylim=(0, 2), yticks=[1.4, 0.4], yticklabels=["unit 1", "unit 2"])
    axes.set_title(f"{sums} sum{'s' * (sums > 1)}", loc="left", fontsize=10)


figure, rows = plt.subplots(3, 1, figsize=(7, 4), sharex=True, layout="constrained")
for axes, sums in zip(rows, (1, 4, 8)):
    conveyor(axes, sums)
rows[-1].set_xlabel("cycle in which it starts; its result is there four cycles later")
plt.show()

# %% [markdown]
"""
*Figure: two rows of twelve boxes for one, four and eight sums. One sum fills one box in eight, four sums half of them, eight sums all.*

**Rules that hold for all kernels of this course.** Inputs are never changed. Empty inputs are no special case: an empty sum is 0. Wrong types raise `TypeError`, wrong sizes `ValueError`, before any work and with a message. The kernels inside, those that Numba compiles, have no door of their own: their callers look first. Each exercise gives you a specification to compare with, `..._spec`; a kernel that calls it earns nothing, and neither does one that hands the product to NumPy.
"""

# %% [markdown]
r"""
## Exercise 1: a loop in vectors, and its tail

The smallest vector kernel is $y \leftarrow y + \alpha x$, *axpy* in BLAS. Whole vectors first, in steps of `VL`; what is left at the end, fewer than `VL` elements, one by one. Nobody stops a vector that reaches over the end: it overwrites what belongs to somebody else. That is why the test hands you a part of a larger array and looks at what lies around it.

    i = 0        VL       2 VL                 n
    |............|............|............|....|
       a vector     a vector     a vector   tail

**Predict.** For $n = 2\,VL + 3$: how many vector steps, how many scalar ones?
"""


# %%
def axpy_spec(alpha, x, y):
    """y + alpha * x in float64."""
    return y.astype(np.float64) + float(alpha) * x.astype(np.float64)


# %% nbgrader={"grade": false, "grade_id": "axpy_vec", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export simd.microkernel
#| writes: y
#| forbid: spec
@kernel
def axpy_vec(alpha, x, y):
    """Add alpha * x to y.

        y[i] += alpha * x[i]

    alpha : float32
    x, y  : (n,) contiguous float32; y is changed, and nothing beyond its ends
    """
    # Hint: range(0, n - n % VL, VL) are the whole vectors. About 6 lines.
    ### BEGIN SOLUTION
    n = len(x)
    whole = n - n % VL
    factor = vsplat(alpha)
    for i in range(0, whole, VL):
        vstore(y, i, vfma(factor, vload(x, i), vload(y, i)))
    for i in range(whole, n):
        y[i] += x[i] * alpha
    ### END SOLUTION


def axpy_part(alpha, x, out, start, stop, plain=False):
    """axpy_vec, in plain Python or not, on the elements from start to stop; returns out."""
    axpy = in_python(axpy_vec) if plain else axpy_vec
    axpy(np.float32(alpha), x[start:stop], out[start:stop])
    return out


def vectors_stored(alpha, x, out):
    """How many vectors axpy_vec stores in out."""
    stored = []

    def noting(place, i, v):
        stored.append(i)
        vstore(place, i, v)

    in_python(axpy_vec, vstore=noting)(np.float32(alpha), x, out)
    return len(stored)


# %% nbgrader={"grade": true, "grade_id": "axpy_vec-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for plain, n in product((True, False), (0, VL, 1, 2 * VL + 3)):
    x, y = ramp(n + 40), ramp(n + 40, seed=1)
    want = y.astype(np.float64)
    want[5 : 5 + n] = axpy_spec(1.5, x[5 : 5 + n], y[5 : 5 + n])
    whole = 5 + n - n % VL
    unchanged = "y did not change: vstore writes into it, `y = ...` is a new array"
    causes = {unchanged: lambda: y} if n >= VL else {}
    causes |= {
        "the tail was forgotten: the last n % VL elements did not change": lambda: np.r_[
            want[:whole], y[whole:]
        ],
        "alpha was left out": lambda: np.r_[y[:5], (x + y)[5 : 5 + n], y[5 + n :]],
        "y was overwritten: alpha * x is added to it": lambda: np.r_[
            y[:5], 1.5 * x[5 : 5 + n], y[5 + n :]
        ],
        "the tail began at 0: the first elements were done twice": lambda: np.r_[
            y[:5], axpy_spec(3.0, x[5:whole], y[5:whole]), want[whole:]
        ],
    }
    got = expect_unchanged(axpy_part, 1.5, x, out=y.copy(), start=5, stop=5 + n, plain=plain)
    hint = "only whole vectors in the vector loop; outside of start to stop nothing may change"
    expect_close(got, want.astype(np.float32), inner=2, likely=causes, hint=hint)
x, y = ramp(5 * VL + 3), ramp(5 * VL + 3, seed=1)
stored = expect_unchanged(vectors_stored, 1.5, x, out=y)
hint = "this exercise is about vectors: whole ones go through vload, vfma and vstore"
expect_equal(min(stored, 5), 5, hint=hint)

# %% nbgrader={"grade": true, "grade_id": "axpy_vec-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("axpy_vec-hidden").standard_normal
lengths = (2, VL - 1, VL + 1, 3 * VL, 4 * VL - 1, 101)
for plain, n, start in product((True, False), lengths, (0, 1, 7)):
    x, y = normal(n + 50).astype(np.float32), normal(n + 50).astype(np.float32)
    alpha, stop = np.float32(normal()), start + n
    want = y.astype(np.float64)
    part = slice(start, stop)
    want[part] = axpy_spec(alpha, x[part], y[part])
    got = expect_unchanged(axpy_part, alpha, x, out=y.copy(), start=start, stop=stop, plain=plain)
    hint = "any n, any start; elements outside of start to stop stay as they are"
    expect_close(got, want.astype(np.float32), inner=2, scale=np.float32(4), hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

try:
    print("    n   of them tail   ns an element")
    for n in (VL - 1, VL, 8 * VL, 64 * VL, 64 * VL + VL - 1):
        x, y = ramp(n), ramp(n, seed=1)
        seconds = time_call(axpy_vec, np.float32(0.5), x, y).median
        print(f"{n:5}{n % VL:15}{seconds / n * 1e9:16.2f}")
except NotImplementedError:
    print("left out: axpy_vec is not written yet")

# %% [markdown]
"""
The first row is all tail, the second one vector; for so few elements the call itself is most of the time. Look at the last two rows: what do the few elements of the tail cost?
"""

# %% [markdown]
r"""
## Exercise 2: a tile of C in registers

A product by rows loads and stores a vector of C for every multiply-add. A *microkernel* keeps a small tile of C in registers while it runs along the whole inner dimension, and touches memory for C once, at the end. It reads two *panels*, in which what it needs next lies next in memory:

    pa[p, r]    column p of a few rows of A     kc x mr floats, one after the other
    pb[p, s]    row p of a few columns of B     kc x nr floats

$$C_{r s} \leftarrow C_{r s} + \sum_p \mathrm{pa}_{p r}\,\mathrm{pb}_{p s}$$

                     pb, row p:   | b0       | b1       |
    pa, column p:   | a0 |        | c00      | c01      |      four registers of sums;
                    | a1 |        | c10      | c11      |      each step adds a times b to all

By hand, for 2 rows and 2 vectors ($mr = 2$, $nr = 2\,VL$): four sums with four *names*. Names become registers; elements of an array do not. In each step load two vectors of B, then broadcast one float of A after the other and use it for both.

The rows of `pb` lie `ldb` floats apart. In a panel that is `nr`; exercise 7 hands you something else.

**Predict.** The four sums of this tile: are they enough to keep your core busy, by the table above?
"""


# %% nbgrader={"grade": false, "grade_id": "ukernel_2x2", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export simd.microkernel
#| writes: c
#| forbid: spec
@kernel
def ukernel_2x2(pa, pb, ldb, kc, c, ic, ldc):
    """Add the product of two panels to a tile of C, of 2 rows and 2 vectors.

        c[ic + r * ldc + s] += sum over p < kc of pa[2 * p + r] * pb[ldb * p + s]
        for r = 0, 1 and s = 0 ... 2 * VL - 1

    pa, pb, c : contiguous float32; indices count floats from the first; c is changed
    ldb, ldc  : floats from a row of pb, or of c, to the next
    kc        : inner size, may be 0
    ic        : where the tile begins in c
    """
    # Hint: vzero(), then a loop over p with vload, vbcast, vfma, then four times
    #       vstore(..., vadd(..., vload(...))). About 17 lines.
    ### BEGIN SOLUTION
    c00 = vzero()
    c01 = vzero()
    c10 = vzero()
    c11 = vzero()
    for p in range(kc):
        b0 = vload(pb, ldb * p)
        b1 = vload(pb, ldb * p + VL)
        a = vbcast(pa, 2 * p)
        c00 = vfma(a, b0, c00)
        c01 = vfma(a, b1, c01)
        a = vbcast(pa, 2 * p + 1)
        c10 = vfma(a, b0, c10)
        c11 = vfma(a, b1, c11)
    vstore(c, ic, vadd(c00, vload(c, ic)))
    vstore(c, ic + VL, vadd(c01, vload(c, ic + VL)))
    vstore(c, ic + ldc, vadd(c10, vload(c, ic + ldc)))
    vstore(c, ic + ldc + VL, vadd(c11, vload(c, ic + ldc + VL)))
    ### END SOLUTION


def multiply_2x2(pa, pb, out, row=0, column=0, plain=False, kc=None):
    """Add the product of the panels (or kc rows of them) to the tile of out that begins there.

    The kernel gets arrays of one axis: all that it knows of shapes is ldb, kc and ldc. Returns out.
    """
    tile, ldc = in_python(ukernel_2x2) if plain else ukernel_2x2, out.shape[1]
    floats, steps = [x.reshape(-1) for x in (pa, pb, out)], len(pa) if kc is None else kc
    tile(*floats[:2], pb.shape[1], steps, floats[2], row * ldc + column, ldc)
    return out


def without_vfma(pa, pb):
    """What ukernel_2x2 adds to C where vfma adds nothing: nothing, if it makes all sums."""
    c = np.zeros((2, 2 * VL), np.float32)
    tile = in_python(ukernel_2x2, vfma=lambda u, v, w: w)
    tile(pa.reshape(-1), pb.reshape(-1), 2 * VL, len(pa), c.reshape(-1), 0, 2 * VL)
    return c


# %% nbgrader={"grade": true, "grade_id": "ukernel_2x2-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
nr = 2 * VL
for plain, kc in product((True, False), (2, 1, 7)):
    # But for kc = 1, rows of pb are longer than the tile is wide.
    pa, pb, c = ramp(kc, 2), ramp(kc, nr + kc // 2, seed=1), ramp(4, nr + 9, seed=2)
    tile, want = tile_spec(pa, pb[:, :nr]), c.astype(np.float64)
    want[1:3, 5 : 5 + nr] += tile

    def with_tile(values):
        other = c.astype(np.float64)
        other[1:3, 5 : 5 + nr] = values
        return other

    old, flat = c[1:3, 5 : 5 + nr], pa.ravel()
    walk = np.array([flat[p : p + 2] for p in range(kc)])

    def rows(step):
        return pb.ravel()[(step * np.arange(kc)[:, None] + np.arange(nr)) % pb.size]

    def at_the_beginning():
        other = c.astype(np.float64)
        other[:2, :nr] += tile
        return other

    causes = {
        "C was overwritten: the product is added to it": lambda: with_tile(tile),
        "C went in twice: begin with vzero, or store without adding": lambda: with_tile(
            2 * old + tile
        ),
        "pa was read at p + r: its rows are 2 floats long": lambda: with_tile(
            old + tile_spec(walk, pb[:, :nr])
        ),
        "pb was read at 2 * p: a row of it is ldb floats long": lambda: with_tile(
            old + tile_spec(pa, rows(2))
        ),
        "pb was read at 2 * VL * p: a row of it is ldb floats long": lambda: with_tile(
            old + tile_spec(pa, rows(nr))
        ),
        "ic was left out: the tile begins at c[ic]": at_the_beginning,
        "both rows used the same float of A": lambda: with_tile(old + tile[:1]),
        "both vectors used the same floats of B": lambda: with_tile(old + np.tile(tile[:, :VL], 2)),
    }
    if kc > 1:  # with a single step it would be C as it was
        causes["the last step is missing: range(kc)"] = lambda: with_tile(
            old + tile_spec(pa[:-1], pb[:-1, :nr])
        )
    got = expect_unchanged(multiply_2x2, pa, pb, out=c.copy(), row=1, column=5, plain=plain)
    hint = "row r of the tile begins at ic + r * ldc, its second vector VL floats later"
    expect_close(
        got, want.astype(np.float32), inner=kc, scale=np.float32(16), likely=causes, hint=hint
    )

# %% nbgrader={"grade": true, "grade_id": "ukernel_2x2-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("ukernel_2x2-hidden").standard_normal
nr = 2 * VL
sizes = ((0, 0, 0, 2, 0), (3, 2, 1, 6, 0), (64, 0, 3, 2, 5), (257, 1, 0, 3, 0))
for plain, (kc, row, column, height, more) in product((True, False), sizes):
    pa, pb = normal((kc, 2)).astype(np.float32), normal((kc, nr + more)).astype(np.float32)
    c = normal((height, column + nr + 2)).astype(np.float32)
    want = c.astype(np.float64)
    want[row : row + 2, column : column + nr] += tile_spec(pa, pb[:, :nr])
    got = expect_unchanged(multiply_2x2, pa, pb, out=c.copy(), row=row, column=column, plain=plain)
    hint = "any kc, also 0; rows of C are longer than the tile, those of pb are ldb long"
    scale = np.float32(4 + tile_spec(np.abs(pa), np.abs(pb)).max())
    expect_close(got, want.astype(np.float32), inner=kc + 1, scale=scale, hint=hint)
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "ukernel_2x2-registers", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
pa, pb, c = ramp(8, 2), ramp(8, 2 * VL, seed=1), ramp(2, 2 * VL, seed=2)
want = c + tile_spec(pa, pb).astype(np.float32)
got = expect_unchanged(multiply_2x2, pa, pb, out=c.copy(), plain=True, kc=0)
expect_close(got, c, hint="kc is 0 here, whatever pa holds: the loop is over range(kc)")
got = expect_unchanged(multiply_2x2, pa, pb, out=c.copy())
expect_close(got, want, inner=9, scale=np.float32(200))
got = expect_unchanged(without_vfma, pa, pb)
hint = "the sums are four vectors, and vfma alone adds to them: here it adds nothing"
expect_close(got, np.zeros_like(got), hint=hint)
pa, pb, c = pa.ravel(), pb.ravel(), c.ravel()
expect_unchanged(ukernel_2x2, pa, pb, 2 * VL, 0, c, 0, 2 * VL)
text = claim("assembly", ukernel_2x2, pa, pb, 2 * VL, 0, c, 0, 2 * VL)  # kc = 0 adds nothing
fused, kept, problem = registers_kept(text)
points(1 * (fused >= 4) + 1 * (fused >= 4 and kept), problem)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

try:
    pa, pb, c = ramp(256, 2), ramp(256, 2 * VL), np.zeros((2, 2 * VL), np.float32)
    pa, pb, c = pa.ravel(), pb.ravel(), c.ravel()
    whole = time_call(ukernel_2x2, pa, pb, 2 * VL, 256, c, 0, 2 * VL).median
    call = time_call(ukernel_2x2, pa, pb, 2 * VL, 0, c, 0, 2 * VL).median
    print("2 rows, 2 vectors, 4 sums, 256 steps")
    for what, seconds in (("with the call", whole), ("without it", whole - call)):
        print(f"{what:15}{seconds * 1e9:6.0f} ns{2 * 256 * 4 * VL / seconds / 1e9:6.0f} GFLOP/s")
except NotImplementedError:
    print("left out: ukernel_2x2 is not written yet")

# %% [markdown]
"""
Compare the second line with the row for 4 sums in the table of the gap. How long the call from Python takes was measured with no step at all; a product makes one such call for thousands of tiles.
"""

# %% [markdown]
r"""
## Exercise 3: a kernel that writes kernels

Four sums are too few for a core with two units; and for any core a larger tile loads less: one of 2 x 2 takes four loads for four multiply-adds, one of 6 x 2 eight for twelve. But twelve or sixteen sums by hand are a page of names. So write the page with a program: `ukernel_source(mr, nv)` returns the *text* of a microkernel for `mr` rows and `nv` vectors. The text knows its parameters, `range` and the vector calls, but neither `VL` nor `mr` nor `nv`: their values are written into it as numbers. For 1 row and 2 vectors, and `VL = 16`, it is

    def ukernel(pa, pb, ldb, kc, c, ic, ldc):
        c0_0 = vzero()
        c0_1 = vzero()
        for p in range(kc):
            b0 = vload(pb, ldb * p)
            b1 = vload(pb, ldb * p + 16)
            a = vbcast(pa, 1 * p + 0)
            c0_0 = vfma(a, b0, c0_0)
            c0_1 = vfma(a, b1, c0_1)
        vstore(c, ic, vadd(c0_0, vload(c, ic)))
        vstore(c, ic + 16, vadd(c0_1, vload(c, ic + 16)))

How large may the tile be? Its `mr * nv` sums, the `nv` vectors of B and one broadcast must be in registers at the same time. What finds no register is kept in memory, and moved from there and back in every step. That costs little while the core has loads to spare, and much when it has none.
"""

# %% jupyter={"source_hidden": true} tags=["raises-exception"]
#| measure
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

figure, all_axes = plt.subplots(1, 3, figsize=(8, 0.6 + REGISTERS / 16), layout="constrained")
largest = (REGISTERS - 3) // 2
for axes, mr in zip(all_axes, (4, largest, largest + 1)):
    kinds = [(BLUE, 2 * mr), (ORANGE, 2), (GREEN, 1)]
    colours = [colour for colour, number in kinds for _ in range(number)]
    for i in range(max(REGISTERS, len(colours))):
        colour = colours[i] if i < len(colours) else "none"
        too_many = dict(edgecolor=RED, linewidth=2.5, linestyle=":")
        frame = too_many if i >= REGISTERS else dict(edgecolor="gray")
        axes.add_patch(Rectangle((i % 8, -(i // 8)), 0.85, 0.85, facecolor=colour, **frame))
    axes.set(xlim=(-0.2, 8), ylim=(-0.3 - REGISTERS // 8, 1.1), aspect="equal")
    axes.axis("off")
    axes.set_title(f"{mr} x 2: {len(colours)} of {REGISTERS}", fontsize=10)
plt.show()

# %% [markdown]
"""
*Figure: the registers of your CPU as boxes, for a tile of 4 rows and 2 vectors, for the highest that fits, and for one row more. Blue: sums, orange: vectors of B, green: the broadcast; a dotted red frame: there is no such register.*

**Predict.** Which tile is the fastest? What does one row too many cost: nothing, a few per cent, or half? And twice as many rows as fit?
"""


# %% jupyter={"source_hidden": true}
#| export simd.prefetch
import re

from llvmlite import ir
from numba import types
from numba.core import cgutils

AHEAD = 32  # rows: what is asked for so early has come when it is needed


def vprefetch(x, i):
    """Ask for the cache line of x's i-th float, up to the second cache.

    It goes on at once and changes nothing; i may be anywhere, also beyond the array.
    """


@compiles(vprefetch)
def _(x, i):
    def emit(context, builder, signature, args):
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        # 0: to read it; 1: the second cache; 1: data, not instructions.
        builder.call(ask, [place, *(number(value) for value in (0, 1, 1))])
        return context.get_dummy_value()

    return types.void(x, types.intp), emit


def with_prefetch(text, rows=True):
    """A microkernel's text in which the tile of C is asked for before all else.

    rows : whether each vector of pb is asked for, too, AHEAD rows before its turn
    What is written otherwise stays as it is.

    >>> print(with_prefetch("        b0 = vload(pb, ldb * p)"))
            vprefetch(pb, ldb * p + 32 * ldb)
            b0 = vload(pb, ldb * p)
    """
    load = re.compile(r"^( +)(\w+ = vload\(pb, (.*\bldb\b.*)\))$", re.MULTILINE)
    if rows:
        text = load.sub(rf"\1vprefetch(pb, \3 + {AHEAD} * ldb)\n\1\2", text)
    first, *others = text.split("\n")
    places = re.findall(r"vload\(c, ((?:ic|ldc|[\d+* ])+)\)", text)
    return "\n".join([first, *(f"    vprefetch(c, {place})" for place in places), *others])


# %% jupyter={"source_hidden": true}
#| export simd.microkernel
def compile_source(text, name):
    """The function `name` that a text defines, compiled by Numba.

    raises ValueError for a text that is no Python or lacks that function, or that holds more than
        numbers, its own names, range and the vector calls; TypeError for what is no text
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise TypeError(f"a kernel's text is a str, not a {kind}: return '\\n'.join(lines)")
    file = f"<{name}>"
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        shown = "\n".join(text.splitlines()[: error.lineno])
        raise ValueError(f"line {error.lineno} of the text: {error.msg}\n{shown}") from None
    calls = dict(vzero=vzero, vload=vload, vbcast=vbcast, vfma=vfma, vadd=vadd, vstore=vstore)
    calls["vprefetch"] = vprefetch
    if unknown := _unknown_parts(tree, {"range", *calls}):
        value = ": write its value" if unknown[0] in {"VL", "mr", "nv"} else ""
        known = "a kernel's text may hold the vector calls and range"
        raise ValueError(f"{known}, not {unknown[0]}{value}")
    # With its lines here, a traceback can show them.
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"__builtins__": {"range": range}, **calls}
    exec(compile(tree, file, "exec"), space)
    if name not in space:
        raise ValueError(f"the text defines no function {name}")
    return kernel(space[name])


def _unknown_parts(tree, known):
    """What reaches beyond a text: modules, attributes, the product @, names it does not bind."""
    nodes = list(ast.walk(tree))
    beyond = (ast.Attribute, ast.Import, ast.ImportFrom, ast.MatMult)
    found = [type(node).__name__ for node in nodes if isinstance(node, beyond)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return found + sorted({node.id for node in names} - own - known)


# %% jupyter={"source_hidden": true}
@kernel
def tile_in_memory(mr, nv, pa, pb, out, row, column, times):
    """What multiply_tile is measured against: the same in vectors, with the sums in memory."""
    ldc = out.shape[1]
    for _ in range(times):
        for p in range(len(pa)):
            for r in range(mr):
                factor, place = vbcast(pa, mr * p + r), (row + r) * ldc + column
                for v in range(0, nv * VL, VL):
                    b = vload(pb, pb.shape[1] * p + v)
                    vstore(out, place + v, vfma(factor, b, vload(out, place + v)))
    return out


# %% nbgrader={"grade": false, "grade_id": "ukernel_source", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export simd.microkernel
#| forbid: spec
def ukernel_source(mr, nv, registers=REGISTERS):
    """The text of a microkernel `ukernel(pa, pb, ldb, kc, c, ic, ldc)` for a tile of any size.

        c[ic + r * ldc + s] += sum over p < kc of pa[mr * p + r] * pb[ldb * p + s]
        for r < mr and s < nv * VL

    mr, nv    : rows of the tile, and registers that a row of it takes, at least 1
    registers : how many the CPU has
    returns a str; where it runs, vzero, vload, vbcast, vfma, vadd, vstore and range are known and
        nothing else: what depends on mr, nv and VL is in it as numbers
    raises ValueError for a tile that does not fit: its sums, a row of pb and one broadcast

    >>> ukernel_source(1, 1).splitlines()[0]
    'def ukernel(pa, pb, ldb, kc, c, ic, ldc):'
    """
    # Hint: a list of lines, joined at the end; f"c{r}_{v}" for r and v. About 16 lines.
    ### BEGIN SOLUTION
    need = mr * nv + nv + 1
    if need > registers:
        raise ValueError(f"a tile of {mr} x {nv} vectors needs {need} of {registers} registers")
    sums = [(r, v) for r in range(mr) for v in range(nv)]
    lines = ["def ukernel(pa, pb, ldb, kc, c, ic, ldc):"]
    lines += [f"    c{r}_{v} = vzero()" for r, v in sums]
    lines += ["    for p in range(kc):"]
    lines += [f"        b{v} = vload(pb, ldb * p + {v * VL})" for v in range(nv)]
    for r in range(mr):
        lines += [f"        a = vbcast(pa, {mr} * p + {r})"]
        lines += [f"        c{r}_{v} = vfma(a, b{v}, c{r}_{v})" for v in range(nv)]
    for r, v in sums:
        place = f"ic + {r} * ldc + {v * VL}"
        lines += [f"    vstore(c, {place}, vadd(c{r}_{v}, vload(c, {place})))"]
    return "\n".join(lines)
    ### END SOLUTION


@functools.cache
def ukernel(mr, nv):
    """The compiled microkernel for a tile of mr rows and nv vectors."""
    # Narrower vectors are more loads for the same work: none is left over for asking for rows.
    return compile_source(with_prefetch(ukernel_source(mr, nv), rows=VL == 16), "ukernel")


def multiply_tile(mr, nv, pa, pb, out, row=0, column=0, times=1, plain=False):
    """Add the product of the panels to the tile of out that begins there; returns out."""
    tile, ldc = (in_python(ukernel) if plain else ukernel)(mr, nv), out.shape[1]
    for _ in range(times):
        tile(pa, pb, pb.shape[1], len(pa), out, row * ldc + column, ldc)
    return out


def stores_of_tile(mr, nv, pa, pb):
    """How many vectors the microkernel stores while it goes through the panels."""
    c, stored, nr = np.zeros(mr * nv * VL, np.float32), [], nv * VL
    tile = in_python(ukernel, vstore=lambda x, i, v: stored.append(i))(mr, nv)
    tile(pa, pb, nr, len(pa), c, 0, nr)
    return len(stored)


# %% nbgrader={"grade": true, "grade_id": "ukernel_source-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
hint = "return the lines as one text: '\\n'.join(lines)"
expect_equal(isinstance(ukernel_source(1, 1), str), True, hint=hint)
hint = "sums, vectors of B and the broadcast all take a register: mr * nv + nv + 1"
expect_equal(isinstance(ukernel_source(6, 2, registers=15), str), True, hint=hint)
expect_raises(ValueError, ukernel_source, 6, 2, registers=14, hint=hint)
expect_raises(ValueError, ukernel_source, 16, 1, registers=16, hint=hint)
for plain, mr, nv, kc in ((True, 1, 2, 1), (True, 3, 1, 7), (True, 12, 1, 2), (False, 3, 1, 7)):
    nr = nv * VL
    pa, pb, c = ramp(kc, mr), ramp(kc, nr + kc // 2, seed=1), ramp(mr + 1, nr + 5, seed=2)
    tile, want = tile_spec(pa, pb[:, :nr]), c.astype(np.float64)
    want[1:, 3 : 3 + nr] += tile

    def with_rows_at(step):
        rows = pb.ravel()[(step * np.arange(kc)[:, None] + np.arange(nr)) % pb.size]
        other = want.copy()
        other[1:, 3 : 3 + nr] += tile_spec(pa, rows) - tile
        return other

    causes = {
        "the step along pb is nv: a row of it is ldb floats long": lambda: with_rows_at(nv),
        "the step along pb is nv * VL: a row of it is ldb floats long": lambda: with_rows_at(nr),
    }
    got = expect_unchanged(
        multiply_tile, mr, nv, pa, pb, out=c.copy(), row=1, column=3, plain=plain
    )
    hint = "print(ukernel_source(2, 2)) and compare it with your exercise 2"
    expect_close(
        got, want.astype(np.float32), inner=kc + 1, scale=np.float32(200), likely=causes, hint=hint
    )

# %% nbgrader={"grade": true, "grade_id": "ukernel_source-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("ukernel_source-hidden").standard_normal
for plain, mr, nv, kc in (
    (True, 5, 2, 33),
    (True, 2, 3, 0),
    (True, 13, 1, 3),
    (True, 1, 7, 4),
    (False, 2, 3, 9),
):
    nr = nv * VL
    pa, pb = normal((kc, mr)).astype(np.float32), normal((kc, nr + nv)).astype(np.float32)
    c = normal((mr + 2, nr + 3)).astype(np.float32)
    want = c.astype(np.float64)
    want[1 : mr + 1, 2 : nr + 2] += tile_spec(pa, pb[:, :nr])
    got = expect_unchanged(
        multiply_tile, mr, nv, pa, pb, out=c.copy(), row=1, column=2, plain=plain
    )
    scale = np.float32(4 + tile_spec(np.abs(pa), np.abs(pb)).max())
    hint = (
        "any tile that fits, any kc, rows of pb that are longer; C around the tile stays as it is"
    )
    expect_close(got, want.astype(np.float32), inner=kc + 1, scale=scale, hint=hint)
for mr, nv, need in ((1, 1, 3), (14, 2, 31), (3, 6, 25), (8, 3, 28), (1, 15, 31)):
    hint = "exactly as many registers as it needs are enough, one less is not"
    expect_equal(isinstance(ukernel_source(mr, nv, need), str), True, hint=hint)
    expect_raises(ValueError, ukernel_source, mr, nv, need - 1, hint=hint)
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "ukernel_source-speed", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]


def tile_inputs(rng):
    pa, pb = rng.standard_normal((2048, 6)), rng.standard_normal((2048, 2 * VL))
    out = rng.standard_normal((6, 2 * VL))
    return 6, 2, *(x.astype(np.float32) for x in (pa, pb, out)), 0, 0, 25


pa, pb, c = ramp(3, 6), ramp(3, 2 * VL, seed=1), ramp(6, 2 * VL, seed=2)
want = (c + tile_spec(pa, pb)).astype(np.float32)
got = expect_unchanged(multiply_tile, 6, 2, pa, pb, out=c.copy(), plain=True)
expect_close(got, want, hint="first see to the test above", scale=np.float32(64), inner=4)
hint = "the sums are names, set before the loop over p and stored after it"
expect_equal(expect_unchanged(stores_of_tile, 6, 2, pa, pb), 12, hint=hint)
points(
    speed(
        multiply_tile,
        tile_in_memory,
        tile_inputs,
        writes=4,
        inner=2048 * 25,
        points=3,
        full={"avx512": 1.6, "avx2": 1.6},
        half={"avx512": 1.2, "avx2": 1.2},
        hint="the sums are names, set before the loop over p and stored after it",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

try:
    print("Without the call from Python:\ntile    registers   GFLOP/s")
    nv, largest = 2, (REGISTERS - 3) // 2
    for mr in sorted({1, 2, 4, 6, 8, largest, largest + 1, 2 * largest}):
        text = ukernel_source(mr, nv, registers=99)
        tile = compile_source(text, "ukernel")
        pa, pb, c = ramp(256, mr), ramp(256, nv * VL), np.zeros((mr, nv * VL), np.float32)
        seconds = time_call(tile, pa, pb, nv * VL, 256, c, 0, nv * VL).median
        seconds -= time_call(tile, pa, pb, nv * VL, 0, c, 0, nv * VL).median
        rate = 2 * 256 * mr * nv * VL / seconds / 1e9
        need = mr * nv + nv + 1
        over = f"   {need - REGISTERS} too many" if need > REGISTERS else ""
        print(f"{mr:2} x {nv}{need:10}{rate:10.0f}{over}")
except NotImplementedError:
    print("left out: ukernel_source is not written yet")

# %% [markdown]
r"""
## Exercise 4: packing

A microkernel wants panels; the caller has matrices. *Packing* copies a block of A into panels of `mr` rows, and a block of B into panels of `nr` columns, so that the kernel reads both from the first float to the last, whatever rows and strides the caller's matrices have.

    B (k x n), nr = 4                      panels (n / nr, k, nr)

    0 1 2 3 | 4 5 6 7 | 8 9 . .            0 1 2 3    4 5 6 7    8 9 0 0
    a b c d | e f g h | i j . .     ->     a b c d    e f g h    i j 0 0

The last panel may be narrower than the others. It is filled up with zeros: the kernel then computes a few zeros too many and needs no second form. Leave garbage there, and garbage is multiplied.

A needs the same the other way round: a panel of A holds `mr` *rows*, column after column. That is the panel of B's kind of the *transposed* matrix. So two little kernels do for all: `panels_from_rows` for a matrix whose rows lie together in memory, `panels_from_columns` for one whose columns do. Which of them is right is found out by the given `pack_a` and `pack_b`.

Copying columns float by float is slow, as the table below the tests shows. The given `turn_columns` does it with vectors for most rows of a panel whose columns are all there, and returns how many rows it did; a loop does the rest.

A matrix arrives here as a BLAS sees it: `x`, all its floats in a row, and `ld` (*leading dimension*), how many floats lie from the beginning of one line to that of the next.

**Predict.** Which of the two copies is slower, for the same number of floats?
"""


# %%
def panels_spec(x, width):
    """The panels of a matrix (k, n) with so many columns each, element by element."""
    k, n = x.shape
    panels = np.zeros((-(-n // width), k, width), x.dtype)
    for j in range(n):
        panels[j // width, :, j % width] = x[:, j]
    return panels


def filled_up(x, width):
    """The same with sevens where there is no column."""
    panels = panels_spec(x, width)
    panels[x.shape[1] // width :, :, x.shape[1] % width :] = 7
    return panels


# %% jupyter={"source_hidden": true}
#| export simd.packing
_kept = threading.local()


def _references(pair):
    return sys.getrefcount(pair[0])


_UNUSED = _references((np.empty(0), 0))  # of a room while no array shows a part of it


def aligned_empty(shape):
    """A float32 array that begins at a cache line (64 bytes); anything may be in it.

    Its memory may be that of an array that is gone. A thread keeps the last four pieces of up to
    8 MB, because new memory is slow: the system clears each page of it at the first touch.
    """
    size = math.prod(shape)
    kept = _kept.__dict__.setdefault("rooms", [])
    for pair in kept:
        if size <= len(pair[0]) - 15 <= 2 * size and _references(pair) == _UNUSED:
            room, start = pair
            break
    else:
        room = np.empty(size + 15, np.float32)
        start = -(room.ctypes.data // 4) % 16
        if size <= 1 << 21:
            kept[:] = [(room, start), *kept[:3]]
    return room[start : start + size].reshape(shape)


def flat_rows(x):
    """(memory, ld) with x[i, j] = memory[i * ld + j], where x lies like that; else None.

    x : a float32 matrix; memory is a view of it
    """
    x = np.asarray(x)  # np.matrix has no view of one axis
    flags = x.flags
    if not flags.aligned:
        return None
    if flags.c_contiguous:
        return x.reshape(-1), x.shape[1]
    (rows, columns), (row, column) = x.shape, x.strides
    if column != 4 or row % 4 or row < 4 * columns:
        return None
    ld = row // 4
    memory = np.lib.stride_tricks.as_strided(x, ((rows - 1) * ld + columns,), (4,))
    return memory, ld


def read_only(memory):
    """The view, for reading: Numba compiles one form of a kernel for all inputs."""
    memory.setflags(write=False)
    return memory


def vzip_low(u, v):
    """u[0], v[0], u[1], v[1], ... from the first halves of two vectors."""
    return np.array((u, v)).T.reshape(-1)[:VL]


@compiles(vzip_low)
def _(u, v):
    return u(u, v), _zip_lanes(0)


def vzip_high(u, v):
    """The same from the second halves."""
    return np.array((u, v)).T.reshape(-1)[VL:]


@compiles(vzip_high)
def _(u, v):
    return u(u, v), _zip_lanes(VL // 2)


def _zip_lanes(first):
    def emit(context, builder, signature, args):
        lanes = [lane for i in range(first, first + VL // 2) for lane in (i, i + VL)]
        return builder.shuffle_vector(*args, ir.Constant(ir.VectorType(ir.IntType(32), VL), lanes))

    return emit


@kernel
def zip_halves(vectors):
    """Eight vectors, the first four and the last four of them zipped: a step of a transposition."""
    a, b, c, d, e, f, g, h = vectors
    low = vzip_low(a, e), vzip_low(b, f), vzip_low(c, g), vzip_low(d, h)
    high = vzip_high(a, e), vzip_high(b, f), vzip_high(c, g), vzip_high(d, h)
    return low[0], high[0], low[1], high[1], low[2], high[2], low[3], high[3]


@kernel
def turn_columns(x, start, ld, panel):
    """Fill the first rows of a panel, as many as whole vectors reach; returns how many that are.

        panel[p, s] = x[start + ld * s + p]

    It begins only panels that it can do: as wide as 8 floats, or narrower by up to 3 where a
    register holds 8; as wide as 4 where it holds 16.
    """
    k, width = panel.shape
    if VL == 16 and width == 4:
        return turn_4_columns(x, start, ld, panel)
    if width != 8 and (VL != 8 or not 4 < width < 8):
        return 0
    # A row of a narrower panel is stored with floats too many; the next row comes over them.
    stop = max(0, k - VL + (width == 8))
    last, step = width - 1, width * VL // 8
    f, g, h = ld * min(5, last), ld * min(6, last), ld * min(7, last)
    for p in range(0, stop, VL):
        i = start + p
        upper = vload(x, i), vload(x, i + ld), vload(x, i + 2 * ld), vload(x, i + 3 * ld)
        lower = vload(x, i + 4 * ld), vload(x, i + f), vload(x, i + g), vload(x, i + h)
        rows = zip_halves(zip_halves(zip_halves(upper + lower)))
        for r in range(8):
            vstore(panel, p * width + r * step, rows[r])
    return (stop + VL - 1) // VL * VL


@kernel
def four_rows(x, i, ld):
    """A vector of each of four rows that lie ld floats apart, from the i-th float on."""
    return vload(x, i), vload(x, i + ld), vload(x, i + 2 * ld), vload(x, i + 3 * ld)


@kernel
def turn_4_columns(x, start, ld, panel):
    """turn_columns for 4 columns, 32 rows of the panel at a time."""
    stop = len(panel) - len(panel) % (2 * VL)
    for p in range(0, stop, 2 * VL):
        a, b, c, d = four_rows(x, start + p, ld)
        e, f, g, h = four_rows(x, start + p + VL, ld)
        a, b, e, f, c, d, g, h = zip_halves((a, b, e, f, c, d, g, h))
        rows = zip_halves((a, b, c, d, e, f, g, h))
        for r in range(8):
            vstore(panel, 4 * p + r * VL, rows[r])
    return stop


# %% nbgrader={"grade": false, "grade_id": "pack", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export simd.packing
#| writes: panels
#| forbid: spec
@kernel
def panels_from_rows(x, ld, n, panels):
    """Panels of a matrix whose rows lie together.

        panels[q, p, s] = x[ld * p + width * q + s], 0 where the column width * q + s is n or more

    x      : the floats of the matrix; ld of them from a row to the next
    n      : columns
    panels : (ceil(n / width), k, width) contiguous, with anything in it; changed
    """
    # Hint: a panel of full width takes vload and vstore if width is a multiple of VL; a few rows of
    #       all of these panels before the next rows, because a row's line of the cache often is
    #       part of two panels. The last one, and narrow panels, go float by float. About 16 lines.
    ### BEGIN SOLUTION
    count, k, width = panels.shape
    whole = n // width if width % VL == 0 else 0
    for first in range(0, k, 8):
        stop = min(first + 8, k)
        for q in range(whole):
            for p in range(first, stop):
                for s in range(0, width, VL):
                    vstore(panels[q], p * width + s, vload(x, ld * p + q * width + s))
    for q in range(whole, count):
        part = min(width, n - q * width)
        for p in range(k):
            target = panels[q, p]
            for s in range(part):
                target[s] = x[ld * p + q * width + s]
            target[part:] = np.float32(0)
    ### END SOLUTION


@kernel
def panels_from_columns(x, ld, n, panels):
    """Panels of a matrix whose columns lie together.

        panels[q, p, s] = x[ld * (width * q + s) + p], 0 where the column width * q + s is n or more

    x      : the floats of the matrix; ld of them from a column to the next
    n      : columns
    panels : (ceil(n / width), k, width) contiguous, with anything in it; changed
    """
    # Hint: column after column: a slice of x, whose floats go to panel[:, s]; for a panel of
    #       whole columns let turn_columns do the first rows. About 10 lines.
    ### BEGIN SOLUTION
    count, k, width = panels.shape
    for q in range(count):
        part = min(width, n - q * width)
        panel = panels[q]
        panel[:, part:] = np.float32(0)
        done = turn_columns(x, ld * width * q, ld, panel) if part == width else 0
        for s in range(part):
            start = ld * (q * width + s)
            column = x[start : start + k]
            for p in range(done, k):
                panel[p, s] = column[p]
    ### END SOLUTION


SMALL = 1 << 14  # floats


def _packed(x, width):
    """The panels of a matrix x (k, n), of so many columns each: (ceil(n / width), k, width)."""
    k, n = x.shape
    shape = -(-n // width), k, width
    # For a few rows of A the search for memory would take longer than the packing.
    panels = aligned_empty(shape) if k * n > SMALL else np.empty(shape, np.float32)
    if n % width:
        panels[-1] = np.nan  # zeros that a kernel forgets shall show at once
    if rows := flat_rows(x):
        panels_from_rows(read_only(rows[0]), rows[1], n, panels)
    elif columns := flat_rows(x.T):
        panels_from_columns(read_only(columns[0]), columns[1], n, panels)
    else:
        panels_from_rows(read_only(np.array(x, order="C").reshape(-1)), n, n, panels)
    return panels


def pack_b(b, nr, plain=False):
    """B (k, n) as panels of nr columns: (ceil(n / nr), k, nr), filled up with zeros."""
    return (in_python(_packed) if plain else _packed)(b, nr)


def pack_a(a, mr, plain=False):
    """A (m, k) as panels of mr rows: (ceil(m / mr), k, mr), filled up with zeros."""
    return (in_python(_packed) if plain else _packed)(a.T, mr)


# %% nbgrader={"grade": true, "grade_id": "pack-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
# The first has columns that turn_columns takes on no CPU: every mistake shows as wrong values.
sizes = ((2, 7, 3), (17, 2 * VL, VL), (5, 2 * VL + 1, VL), (3, VL + 1, VL + 1), (2 * VL + 3, 19, 8))
for plain, (k, n, width) in product((True, False), sizes):
    b = ramp(k, n)
    want = panels_spec(b, width)
    cut = np.resize(b.ravel(), want.size).reshape(want.shape)
    causes = {
        "B was cut as it lies in memory: a panel holds some columns of every row": lambda: cut
    }
    hint = (
        "panels_from_rows: row p of panel q begins at x[ld * p + width * q]; zeros behind column n"
    )
    got = expect_unchanged(pack_b, b, width, plain=plain)
    expect_equal(got, want, likely=causes, hint=hint)
    a = ramp(n, k, seed=1)
    want = panels_spec(a.T, width)
    cut = np.resize(a.ravel(), want.size).reshape(want.shape)
    turned = want.transpose(0, 2, 1).reshape(want.shape)
    causes = {
        "the panel lies row after row: the kernel reads mr neighbours for each p": lambda: turned,
        "A was cut as it lies in memory: a panel holds its rows column after column": lambda: cut,
    }
    hint = (
        "panels_from_columns: column s of panel q begins at x[ld * (width * q + s)]; zeros behind n"
    )
    got = expect_unchanged(pack_a, a, width, plain=plain)
    expect_equal(got, want, likely=causes, hint=hint)
part = ramp(2 * VL + 1, 3 * VL + 7)[:, 2 : 2 * VL + 3]  # of a wider matrix
for plain, pack in product((True, False), (pack_b, pack_a)):
    want = panels_spec(part if pack is pack_b else part.T, VL)
    hint = "ld is how far a line of x is from the next one, which need not be n or k"
    expect_equal(expect_unchanged(pack, part, VL, plain=plain), want, hint=hint)

# %% nbgrader={"grade": true, "grade_id": "pack-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("pack-hidden").standard_normal
sizes = (
    (1, 9, 6),
    (13, VL + 1, 6),
    (27, VL, 8),
    (2 * VL, 3, 2 * VL),
    (4 * VL + 5, 6, 2 * VL),
    (8, 0, 4),
    (VL, 2, 3 * VL),
)
for plain in (True, False):
    for m, k, width in sizes:
        x = normal((m, k)).astype(np.float32)
        want = panels_spec(x.T, width)
        hint = "any m and k, panels wider than the matrix, zeros in the last one"
        got = expect_fresh(pack_a, x, width, plain=plain)
        expect_equal(got, want, allow_empty=True, hint=hint)
        got = expect_fresh(pack_b, x.T.copy(), width, plain=plain)
        expect_equal(got, want, allow_empty=True, hint=hint)
    for name, x in layouts(normal((2 * VL + 3, 5)).astype(np.float32)):
        want = panels_spec(x.T, VL)
        hint = f"A and B may be {name}; ld is not the number of columns"
        expect_equal(expect_unchanged(pack_a, x, VL, plain=plain), want, hint=hint)
        got = expect_unchanged(pack_b, x, 3, plain=plain)
        expect_equal(got, panels_spec(x, 3), hint=hint)
### END HIDDEN TESTS

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

try:
    x = ramp(512, 512)
    place = np.empty_like(x)
    copy = time_call(np.copyto, place, x).median
    print("512 x 512 floats         us   times a plain copy")
    print(f"np.copyto      {copy * 1e6:14.0f}")
    ways = ("pack_b", pack_b, 2 * VL), ("pack_a, 8 rows", pack_a, 8), ("pack_a, 9 rows", pack_a, 9)
    for name, pack, width in ways:
        seconds = time_call(pack, x, width).median
        print(f"{name:15}{seconds * 1e6:14.0f}{seconds / copy:12.1f}")
except NotImplementedError:
    print("left out: panels_from_rows or panels_from_columns is not written yet")

# %% [markdown]
"""
Panels of 9 rows are none that `turn_columns` knows: there your loop copies all of it, float by float. `pack_b` should take one to three times as long as the plain copy. Where it takes as long as those panels, `panels_from_rows` goes float by float, too, and every large product will wait for it: see the hint.
"""

# %% [markdown]
"""
## Exercise 5: all tiles of a block

Packed panels on one side, a block of C on the other: the *macrokernel* walks over the tiles of C, in the outer loop over panels of A, in the inner one over panels of B. The panel of A stays in the cache nearest to the core while the panels of B go by.

A tile at the edge may have fewer than `mr` rows or `nr` columns. The microkernel knows only whole ones, and a whole one would write over the neighbours. So at the edge it gets a little array of its own to add to, cleared before, and what belongs to C is added from there.

    +------+------+------+--+
    | full | full | full |  |      full tiles: straight into C
    +------+------+------+--+
    |      |      |      |  |      the others: into `edge`, then the part that exists
    +------+------+------+--+

The tile of the products below is `TILE`: 8 rows and 2 vectors where the CPU has 32 registers, 6 and 2 where it has 16. With 32 registers more rows would fit, and the table of exercise 3 says what they would bring. But `turn_columns` packs panels of 8 rows with vectors, and the lower the tile, the less is computed in vain at the edge.

**Predict.** C has 100 x 100 elements, the tile 8 x 32. How many tiles are whole, how many are not?
"""

# %%
#| export simd.microkernel
TILE = (8, 2) if REGISTERS == 32 else (6, 2)  # rows and vectors that fit into the registers
WIDEST = 8  # vectors in a row of a tile for few rows


def packed_tile(rows):
    """(mr, nv) of the tile for the next rows where B is packed for TILE."""
    return min(rows, TILE[0]), TILE[1]


def tile_for(rows):
    """(mr, nv) of the tile for the next rows where B is read in place.

    It is as high as can be, so that B is read seldom; one register is left over.

    >>> tile_for(3)[0]
    3
    """
    mr = min(rows, TILE[0])
    return mr, min(WIDEST, (REGISTERS - 2) // (mr + 1))


def row_parts(m, tile, most=10**9):
    """(first row, rows, mr, nv) for m rows: parts of whole tiles of mr rows, then a lower tile.

    >>> [rows for _, rows, _, _ in row_parts(2 * TILE[0] + 1, packed_tile)] == [2 * TILE[0], 1]
    True
    """
    row = 0
    while row < m:
        mr, nv = tile(m - row)
        rows = min(m - row, most) // mr * mr
        yield row, rows, mr, nv
        row += rows


# %%
#| export simd.macrokernel
# Rows of A, inner size and columns of B that are packed at a time.
MC, KC, NC = (264, 512, 4096) if VL == 16 else (132, 384, 4096)


def depth_for(k):
    """An inner size near KC, so that all blocks of k are of one depth.

    >>> depth_for(KC + 2) == KC + 2
    True
    """
    return max(1, -(-k // max(1, round(k / KC))))


# %% nbgrader={"grade": false, "grade_id": "macro_kernel", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export simd.macrokernel
#| writes: c
#| forbid: spec
@functools.cache
def macro_kernel(mr, nv):
    """The compiled loops over all tiles of a block of C, with a microkernel of that size in them.

    returns tiles(pa, pb, c, ic, ldc, m, n), which adds the product of two packed blocks to c:

        c[ic + i * ldc + j] += sum over p of A[i, p] * B[p, j]    for i < m, j < n

        pa      : (ceil(m / mr), k, mr), as pack_a makes it
        pb      : (ceil(n / nr), k, nr) with nr = nv * VL, as pack_b makes it; whatever the last
                  panels are filled up with does not get into c
        c       : contiguous float32; changed between ic and the block's last element only
        ic, ldc : where the block begins in c, and floats from a row of it to the next
    """
    tile, nr = ukernel(mr, nv), nv * VL

    @kernel
    def tiles(pa, pb, c, ic, ldc, m, n):
        # Hint: a tile that is not whole goes into `edge`, an array of mr * nr floats; then its part
        #       inside of the block is added to c. One call of tile, for either. About 15 lines.
        ### BEGIN SOLUTION
        k = pa.shape[1]
        edge = np.empty(mr * nr, np.float32)
        for i in range(0, m, mr):
            for j in range(0, n, nr):
                place = ic + i * ldc + j
                whole = i + mr <= m and j + nr <= n
                if whole:
                    target, start, ld = c, place, ldc
                else:
                    edge[:] = np.float32(0)
                    target, start, ld = edge, 0, nr
                tile(pa[i // mr], pb[j // nr], nr, k, target, start, ld)
                if not whole:
                    for r in range(min(mr, m - i)):
                        for s in range(min(nr, n - j)):
                            c[place + r * ldc + s] += edge[r * nr + s]
        ### END SOLUTION

    return tiles


def multiply_panels(mr, nv, pa, pb, out, row, column, m, n, plain=False):
    """Add the product of packed blocks to the (m, n) block of out that begins there."""
    tiles, ldc = (in_python(macro_kernel) if plain else macro_kernel)(mr, nv), out.shape[1]
    tiles(pa, pb, out.reshape(-1), row * ldc + column, ldc, m, n)
    return out


def tiles_called(mr, nv, pa, pb, m, n):
    """(calls of the microkernel for a tile of c itself, for another array) in a block (m, n)."""
    c, own = np.zeros(m * n, np.float32), []

    def noting(mr, nv):
        return lambda pa, pb, ldb, kc, into, ic, ldc: own.append(np.shares_memory(into, c))

    in_python(macro_kernel, ukernel=noting)(mr, nv)(pa, pb, c, 0, n, m, n)
    return own.count(True), own.count(False)


# %% nbgrader={"grade": true, "grade_id": "macro_kernel-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for plain, (mr, nv) in ((True, (2, 1)), (False, TILE)):
    nr = nv * VL
    for m, k, n in (
        (2 * mr, 3, 2 * nr),
        (mr + 1, 5, nr + 1),
        (2 * mr + 1, 2, 3 * nr - 1),
        (1, 1, 1),
    ):
        a, b, c = ramp(m, k), ramp(k, n, seed=1), ramp(m + 3, n + 2 * nr, seed=2)
        block, want = product_spec(a, b), c.astype(np.float64)
        want[1 : m + 1, 3 : n + 3] += block
        whole_rows, whole_columns = m - m % mr, n - n % nr

        def inside(values):
            other = c.astype(np.float64)
            other[1 : m + 1, 3 : n + 3] += values
            return other

        def no_edges():
            part = np.zeros_like(block)
            part[:whole_rows, :whole_columns] = block[:whole_rows, :whole_columns]
            return part

        def edge_replaces():
            part = block - c[1 : m + 1, 3 : n + 3]
            part[:whole_rows, :whole_columns] = block[:whole_rows, :whole_columns]
            return part

        def at_the_beginning():
            other = c.astype(np.float64)
            other.reshape(-1)[np.add.outer(np.arange(m) * c.shape[1], np.arange(n))] += block
            return other

        causes = {
            "the tiles at the edge are missing": lambda: inside(no_edges()),
            "C was overwritten: the product is added to it": lambda: inside(
                block - c[1 : m + 1, 3 : n + 3]
            ),
            "at the edge C was overwritten: `edge` is added to it": lambda: inside(edge_replaces()),
            "ic was left out: the block begins at c[ic]": at_the_beginning,
            "all tiles used the first panel of A: pa[i // mr]": lambda: inside(
                block[np.arange(m) % mr]
            ),
            "all tiles used the first panel of B: pb[j // nr]": lambda: inside(
                block[:, np.arange(n) % nr]
            ),
        }
        pa, pb = filled_up(a.T, mr), filled_up(b, nr)
        got = expect_unchanged(
            multiply_panels, mr, nv, pa, pb, out=c.copy(), row=1, column=3, m=m, n=n, plain=plain
        )
        hint = "the tile at i, j begins at c[ic + i * ldc + j]; its panels: i // mr, j // nr"
        if (whole_rows, whole_columns) != (m, n):
            hint = (
                "at the edge: clear `edge`, let the tile add to it, then add the part inside of C"
            )
        want = want.astype(np.float32)
        expect_close(got, want, inner=k + 1, scale=np.float32(64), likely=causes, hint=hint)
    pa, pb = ramp(3, 1, mr), ramp(3, 1, nr)
    calls = expect_unchanged(tiles_called, mr, nv, pa, pb, 2 * mr + 1, 2 * nr + 3)
    hint = "the microkernel does every tile: 4 whole ones straight into c, 5 others into `edge`"
    expect_equal(calls, (4, 5), hint=hint)

# %% nbgrader={"grade": true, "grade_id": "macro_kernel-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("macro_kernel-hidden").standard_normal
cases = [
    (plain, mr, nv, rows * mr + row, k, columns * nv * VL + column, top, left)
    for plain, (mr, nv) in ((True, (2, 1)), (False, TILE))
    for rows, row, k, columns, column, top, left in (
        (3, 1, 33, 4, 3, 0, 0),
        (3, 0, 0, 2, 0, 1, 1),
        (4, 1, 8, 1, -1, 2, 5),
        (2, 0, 5, 3, 0, 0, 7),
    )
]
for plain, mr, nv, m, k, n, row, column in cases:
    a, b = normal((m, k)).astype(np.float32), normal((k, n)).astype(np.float32)
    c = normal((m + row + 2, n + column + nv * VL)).astype(np.float32)
    want = c.astype(np.float64)
    want[row : row + m, column : column + n] += product_spec(a, b)
    pa, pb = filled_up(a.T, mr), filled_up(b, nv * VL)
    place = dict(row=row, column=column, m=m, n=n)
    got = expect_unchanged(multiply_panels, mr, nv, pa, pb, out=c.copy(), **place, plain=plain)
    largest = product_spec(*map(np.abs, (a, b))).max(initial=0)
    scale = np.float32(4 + largest)
    hint = "one row of tiles or many, whole ones or not; what lies around the block stays"
    expect_close(got, want.astype(np.float32), inner=k + 1, scale=scale, hint=hint)
### END HIDDEN TESTS

# %% [markdown]
r"""
## Exercise 6: the five loops

A block of A and a block of B must fit into caches, so the matrices are cut once more, as in 05. Three loops stand around the two of the macrokernel:

    for each nc columns of B and C
        for each kc of the inner dimension:    pack kc x nc of B
            for each mc rows of A and C:       pack mc x kc of A
                the macrokernel adds one product of blocks to C

This is the scheme of GotoBLAS, OpenBLAS and BLIS. What is packed is used many times: B's block by all rows of A, A's block by all columns of B's block.
"""

# %% jupyter={"source_hidden": true} tags=["raises-exception"]
#| measure
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle
from tito.machine import facts

sizes = {
    cache.level: cache.size // 1024 for cache in facts().caches or () if cache.kind != "instruction"
}
mr, nr = TILE[0], TILE[1] * VL
parts = [
    ("block of B", "kc x nc", 4 * KC * NC // 1024, BLUE, 3),
    ("block of A", "mc x kc", 4 * MC * KC // 1024, ORANGE, 2),
    ("panel of A", f"{mr} x kc", 4 * mr * KC // 1024, GREEN, 1),
]
figure, axes = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
for left, (width, height, name) in zip(
    (0, 3, 6.4), ((2.4, 4, "A  (m x k)"), (2.8, 3, "B  (k x n)"), (2.8, 4, "C  (m x n)"))
):
    axes.add_patch(Rectangle((left, 4 - height), width, height, fill=False, ec="gray"))
    axes.text(left + width / 2, 4.15, name, ha="center", color="gray")
axes.add_patch(Rectangle((0.8, 2.2), 0.8, 1.2, fc=ORANGE, alpha=0.7))
axes.add_patch(Rectangle((0.8, 2.5), 0.8, 0.2, fc=GREEN))
axes.add_patch(Rectangle((3, 2.2), 2.4, 0.8, fc=BLUE, alpha=0.7))
axes.add_patch(Rectangle((6.4, 2.2), 2.4, 1.2, fc="none", ec=ORANGE, lw=2))
axes.add_patch(Rectangle((7.2, 2.5), 0.5, 0.2, fc=GREEN))
for row, (name, size, kib, colour, level) in enumerate(parts):
    here = sizes.get(level)
    cache = f"L{level}" + f" of {here:,} KB" * bool(here)
    cache += ": too large for it" * (kib > (here or kib))
    axes.text(0, -0.5 - 0.55 * row, f"{name} ({size}): {kib:,} KB, meant for {cache}")
    axes.add_patch(Rectangle((-0.45, -0.55 - 0.55 * row), 0.3, 0.3, fc=colour))
axes.set(xlim=(-0.6, 9.4), ylim=(-2.1, 4.5), aspect="equal")
axes.axis("off")
plt.show()

# %% [markdown]
"""
*Figure: the matrices A, B and C as frames. In A an orange block and in it a green panel, in B a blue block, in C the rows that they change and one tile. Below, the size of each in KB, and the cache of your machine that it is meant for.*

Two given helpers do what every product needs around its loops: `begin` looks at the arguments and returns a cleared `c` whose rows lie together, `finish` brings it into the caller's `out`. `flat_rows(c)` gives the memory that the macrokernel wants, and how far its rows lie apart. (Of the caller's `out` it may be None: only the rows of `c` are sure to lie together.)

**Predict.** For 600 x 600 matrices with `mc = 264`, `kc = 512`, `nc = 256`: how often is each float of A packed, how often each of B? And with `nc = 4096`? The last part of the test counts it for a small case.
"""


# %% jupyter={"source_hidden": true}
#| export simd.matrices
"""Matrices around a product: looks at the arguments, and how compiled code reaches the floats."""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from tinykernels.loops import check_matmul
from tinykernels.vectorized import check_out

FLOAT = np.dtype(np.float32)


def begin(a, b, out):
    """(m, k, n, out, c): the sizes, where the result goes, and cleared memory to add it up in.

    raises TypeError and ValueError as check_matmul and check_out; TypeError for float64
    """
    m, inner, n = check_matmul(a, b)
    if a.dtype != FLOAT:
        raise TypeError(f"a and b are {a.dtype}, not float32: use gemm, or .astype")
    if out is None:
        out = np.zeros((m, n), FLOAT)
        return m, inner, n, out, out
    others = [x for x in (a, b) if isinstance(x, np.ndarray)]
    out = check_out(out, (m, n), *others)
    c = out if flat_rows(out) else np.empty((m, n), np.float32)
    c.fill(0)
    return m, inner, n, out, c


def finish(out, c):
    """out, with the result in it."""
    if c is not out:
        out[...] = c
    return out


MATRIX = types.Array(types.float32, 2, "A", readonly=True)  # "A": any strides
_WRITTEN = types.Array(types.float32, 2, "A")
FLOATS = types.Array(types.float32, 1, "C")


def reachable(x):
    """x itself, if floats_of(x) and a distance of rows reach all of it in memory; else a copy."""
    if type(x) is np.ndarray and x.flags.carray:
        return x
    x = np.asarray(x)
    return x if flat_rows(x) else np.array(x, order="C")


def floats_of(x):
    """The floats of a reachable matrix in one axis: x[i, j] is floats_of(x)[i * ld + j].

    ld = x.strides[0] // 4
    """
    return flat_rows(x)[0]


@compiles(floats_of)
def _(x):
    def emit(context, builder, signature, args):
        source = context.make_array(signature.args[0])(context, builder, args[0])
        flat = context.make_array(FLOATS)(context, builder)
        rows, columns = cgutils.unpack_tuple(builder, source.shape, 2)
        row, four = cgutils.unpack_tuple(builder, source.strides, 2)[0], source.itemsize
        before_the_last = builder.sdiv(builder.mul(builder.sub(rows, rows.type(1)), row), four)
        shape = [builder.add(before_the_last, columns)]
        # The argument keeps the memory alive, so that the view need not.
        populate_array(flat, source.data, shape, [four], four, None)
        return flat._getvalue()

    return FLOATS(x), emit


def compiled_once(*others):
    """Decorator over @kernel: product(a, c, *others) compiled for all matrices a and c.

    others : the Numba types of the other arguments; MATRIX for any matrix that is only read
    Numba would compile it anew for each layout, and for read-only arrays, when they come.
    """

    def decorate(product):
        if hasattr(product, "compile"):  # in plain Python it is no kernel
            product.compile(types.void(MATRIX, _WRITTEN, *others))
            product.disable_compile()  # from now on, arguments are converted to that form
        return product

    return decorate


# %% nbgrader={"grade": false, "grade_id": "gemm_blocked", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export simd.blocked
#| forbid: blas, spec
def gemm_blocked(a, b, out=None, mc=MC, kc=KC, nc=NC):
    """The product of two matrices by packed blocks.

        out[i, j] = sum over p of a[i, p] * b[p, j]

    a, b       : (m, k) and (k, n) float32, any stride; not modified
    out        : (m, n) float32, any stride, or None for a new array
    mc, kc, nc : sizes of the blocks, at least 1, may be larger than the matrices
    returns out; k = 0 gives zeros
    raises TypeError and ValueError as begin and check_count

    >>> gemm_blocked(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32))
    array([[3.],
           [3.]], dtype=float32)
    """
    # Hint: check_count("mc", mc) and so on, begin, flat_rows(c); macro_kernel(*TILE), and the three
    #       loops of the text around one call of it. pack_a and pack_b take slices that reach over
    #       the end; the macrokernel wants the true m and n of its block of C. About 15 lines.
    ### BEGIN SOLUTION
    mc, kc, nc = check_count("mc", mc), check_count("kc", kc), check_count("nc", nc)
    m, k, n, out, c = begin(a, b, out)
    memory, ldc = flat_rows(c)
    mr, nv = TILE
    tiles = macro_kernel(mr, nv)
    for j in range(0, n, nc):
        for p in range(0, k, kc):
            pb = pack_b(b[p : p + kc, j : j + nc], nv * VL)
            for i in range(0, m, mc):
                pa = pack_a(a[i : i + mc, p : p + kc], mr)
                tiles(pa, pb, memory, i * ldc + j, ldc, min(mc, m - i), min(nc, n - j))
    return finish(out, c)
    ### END SOLUTION


def blocked_in_python(a, b, **blocks):
    """gemm_blocked in plain Python."""
    return in_python(gemm_blocked)(a, b, **blocks)


def blocks_packed(a, b, **blocks):
    """{name: floats of each call} for the calls of pack_a and pack_b in gemm_blocked."""
    seen = {"pack_a": [], "pack_b": []}

    def noting(name, pack):
        def noted(*args, **options):
            panels = in_python(pack)(*args, **options)
            seen[name].append(panels.size)
            return panels

        return noted

    noted = {name: noting(name, pack) for name, pack in (("pack_a", pack_a), ("pack_b", pack_b))}
    in_python(gemm_blocked, **noted)(a, b, **blocks)
    return seen


PANELS = types.Array(types.float32, 3, "C")
PART_OF_B = 6 * TILE[1] * VL  # columns of B that are packed at a time where A stays


def room_for(rows, mr, depth):
    """Floats for panels of mr rows each, or columns, in whole cache lines."""
    floats = -(-rows // mr) * mr * depth
    return floats + -floats % 16


def blocks_for(m, n):
    """(mc, nc): of the smaller of A and B all is packed first, of the other a piece at a time.

    The piece is used at once, while it is in the second cache, and the next one takes its room.
    """
    return (NC, PART_OF_B) if m < n else (MC, NC)


@functools.cache
def product_kernel(mr, nv):
    """The five loops around the microkernel, compiled for a tile of mr rows and nv vectors.

    returns add_product(a, c, b, room_a, room_b, mc, kc, nc), which adds the product of a and b to c

        a, b, c        : (m, k), (k, n) and (m, n), reachable
        room_a, room_b : floats for the panels of a block of each
        mc, kc, nc     : sizes of the blocks
    """
    tiles, nr = macro_kernel(mr, nv), nv * VL

    @compiled_once(MATRIX, FLOATS, FLOATS, types.intp, types.intp, types.intp)
    @kernel
    def add_product(a, c, b, room_a, room_b, mc, kc, nc):
        (m, n), k = c.shape, len(b)
        lda, ldb, ldc = a.strides[0] // 4, b.strides[0] // 4, c.strides[0] // 4
        down, along = (m + mc - 1) // mc, (n + nc - 1) // nc  # blocks of C
        for p in range(0, k, kc):
            depth, row, column = min(kc, k - p), -1, -1
            pa, pb = room_a[:0].reshape(0, 0, mr), room_b[:0].reshape(0, 0, nr)
            for block in range(down * along):
                i, j = (block // along, block % along) if m < n else (block % down, block // down)
                rows, columns = min(mc, m - i * mc), min(nc, n - j * nc)
                if row != i:
                    row, count = i, (rows + mr - 1) // mr
                    pa = room_a[: count * depth * mr].reshape(count, depth, mr)
                    panels_from_columns(floats_of(a)[i * mc * lda + p :], lda, rows, pa)
                if column != j:
                    column, count = j, (columns + nr - 1) // nr
                    pb = room_b[: count * depth * nr].reshape(count, depth, nr)
                    panels_from_rows(floats_of(b)[p * ldb + j * nc :], ldb, columns, pb)
                place = i * mc * ldc + j * nc
                tiles(pa, pb, floats_of(c), place, ldc, rows, columns)

    return add_product


@functools.cache
def packed_kernel(mr, nv):
    """The same for a block of B that is packed already, and so many rows of A.

    returns add_product(a, c, pb, room, p, row, rows): the block lies at the p-th row of B
    """
    tiles = macro_kernel(mr, nv)

    @compiled_once(PANELS, FLOATS, types.intp, types.intp, types.intp)
    @kernel
    def add_product(a, c, pb, room, p, row, rows):
        count, k = (rows + mr - 1) // mr, pb.shape[1]
        pa = room[: count * k * mr].reshape(count, k, mr)
        lda, ldc = a.strides[0] // 4, c.strides[0] // 4
        panels_from_columns(floats_of(a)[row * lda + p :], lda, rows, pa)
        tiles(pa, pb, floats_of(c), row * ldc, ldc, rows, c.shape[1])

    return add_product


def gemm_wide(a, b, out=None):
    """The product of two matrices for many rows of a: gemm_blocked as one call of compiled code.

    The arguments, errors and what is returned are those of gemm_blocked.

    >>> gemm_wide(np.ones((1, 3), np.float32), np.ones((3, 2), np.float32))
    array([[3., 3.]], dtype=float32)
    """
    m, k, n, out, c = begin(a, b, out)
    mr, nv = TILE
    kc = depth_for(k)
    mc, nc = blocks_for(m, n)
    size = room_for(min(m, mc), mr, kc)
    room = aligned_empty((size + room_for(min(n, nc), nv * VL, kc),))
    a, b, memory, product = reachable(a), reachable(b), np.asarray(c), product_kernel(mr, nv)
    product(a, memory, b, room[:size], room[size:], mc, kc, nc)
    return finish(out, c)


# %% nbgrader={"grade": true, "grade_id": "gemm_blocked-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
mr, nr = TILE[0], TILE[1] * VL
shapes = ((2, 0, 3), (1, 1, 1), (20, 7, 40), (33, 50, 70), (0, 3, 2))
expect_raises(ValueError, gemm_blocked, ramp(4, 3), ramp(3, 5), mc=0, hint="check_count looks")
expect_raises(ValueError, gemm_blocked, ramp(4, 3), ramp(4, 3), hint="begin looks at the shapes")
# 15 rows and 44 columns are whole tiles on no CPU: 6 or 8 rows; 8, 16 or 32 columns.
for multiply in (blocked_in_python, gemm_blocked):
    for m, k, n in shapes:
        a, b = ramp(m, k), ramp(k, n, seed=1)
        want = product_spec(a, b)
        last = (k - 1) // 20 * 20 if k else 0
        causes = {
            "only the last block of the inner dimension is there": lambda: product_spec(
                a[:, last:], b[last:]
            ),
            "only the first block of the inner dimension is there": lambda: product_spec(
                a[:, :20], b[:20]
            ),
        }
        try:
            got = expect_unchanged(multiply, a, b, mc=15, kc=20, nc=44)
        except IndexError as error:
            raise CheckFailed(
                f"gemm_blocked  a ({m}, {k}), b ({k}, {n}), mc=15, kc=20, nc=44: {error}\n"
                "  likely    a block at the edge reaches beyond the end: it is no whole mc x nc\n"
                "  try       tell the macrokernel the true rows and columns of its block of C;\n"
                "            it gets `memory`, not c, and panels of B as wide as a tile, nv * VL"
            ) from None
        hint = "C is cleared once, in begin; each block adds its product at i * ldc + j"
        options = dict(inner=k, likely=causes, hint=hint, allow_empty=True)
        expect_close(got, want.astype(np.float32), **options)
    a, b = ramp(20, 30), ramp(30, 40, seed=1)
    want = product_spec(a, b).astype(np.float32)
    place = np.full((20, 80), 7, np.float32)
    got = multiply(a, b, out=place[:, ::2])
    expect_close(place[:, ::2].copy(), want, inner=30, hint="out may have steps: begin and finish")
    expect_close(got, want, inner=30, hint="what is returned is out: begin and finish")
    expect_equal(place[:, 1::2].copy(), np.full((20, 40), 7, np.float32), hint="only out changes")
    a, b = ramp(4 * mr, 2), ramp(2, 2 * nr, seed=1)
    floats = expect_unchanged(blocks_packed, a, b, mc=2 * mr, kc=1, nc=nr)
    causes = {
        "nothing was packed by pack_b": lambda: 0,
        "B's block was packed again for each block of A: do it before the loop over rows": (
            lambda b=b: 2 * b.size
        ),
    }
    hint = "in the loops over nc and kc, before that over mc: each float of B once"
    expect_equal(sum(floats["pack_b"]), b.size, likely=causes, hint=hint)
    hint = "pack_a makes panels of A's block once for each block of B, and of no more of A"
    expect_equal(a.size <= sum(floats["pack_a"]) <= 2 * a.size, True, hint=hint)
    hint = "a block of B holds at most kc x nc floats, one of A at most mc x kc"
    expect_equal(max(nr, *floats["pack_b"]), nr, hint=hint)
    expect_equal(max(2 * mr, *floats["pack_a"]), 2 * mr, hint=hint)

# %% nbgrader={"grade": true, "grade_id": "gemm_blocked-hidden", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 2 points, checked after hand-in
### BEGIN HIDDEN TESTS
draw = rng("gemm_blocked-hidden")
small, large = ((11, 14, 35), (3, 59, 5)), ((37, 61, 83), (8, 16, 32), (1, 130, 5))
for what in ({"kc": 2.0}, {"nc": True}, {"mc": "8"}):
    one = np.ones((1, 1), np.float32)
    expect_raises(TypeError, blocked_in_python, one, one, **what, hint=f"{what}: check_count")
normal = draw.standard_normal
for plain, sizes, kc in ((True, small, 5), (False, large, 13)):
    multiply = blocked_in_python if plain else gemm_blocked
    for m, k, n in sizes:
        a = draw.integers(-8, 9, (m, k)).astype(np.float32)
        b = draw.integers(-8, 9, (k, n)).astype(np.float32)
        want = product_spec(a, b).astype(np.float32)
        # 10 rows are whole tiles on no CPU.
        for blocks in ({}, dict(mc=10, kc=kc, nc=33), dict(mc=10**9, kc=4 * kc, nc=10**9)):
            got = expect_fresh(multiply, a, b, **blocks)
            expect_equal(got, want, hint=f"blocks {blocks}: small whole numbers come out exactly")
    got = multiply(a, b, mc=1, nc=1)
    expect_equal(got, want, hint="blocks of one row and one column")
    a, b = normal((21, 23)).astype(np.float32), normal((23, 19)).astype(np.float32)
    want = product_spec(a, b).astype(np.float32)
    room = np.full((21, 40), 7, np.float32)
    out = room[:, 5:24]
    returned = multiply(b=b, a=a, out=out, mc=13)
    expect_equal(returned is out, True, hint="out is what is returned; arguments by name")
    hint = "out had other numbers in it, and its rows are parts of longer ones: ldc is not n"
    expect_close(out, want, inner=23, scale=np.float32(40), hint=hint)
    around = np.r_[room[:, :5].ravel(), room[:, 24:].ravel()]
    expect_equal(around, np.full(21 * 21, 7, np.float32), hint="what lies beside out stays: ldc")
for name, a in layouts(normal((19, 23)).astype(np.float32)):
    b = normal((23, 21)).astype(np.float32)
    want = product_spec(a, b).astype(np.float32)
    got = expect_unchanged(gemm_blocked, a, b, kc=9)
    expect_close(got, want, inner=23, scale=np.float32(40), hint=f"A may be {name}")
    got = expect_unchanged(gemm_blocked, b.T, a.T, kc=9)
    expect_close(got, want.T.copy(), inner=23, scale=np.float32(40), hint=f"B may be {name}")
expect_raises(ValueError, gemm_blocked, a, b, out=out, hint="out of another shape: begin")
expect_raises(TypeError, gemm_blocked, a.astype(np.float64), b, hint="mixed dtypes: begin")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "gemm_blocked-speed", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]


def square_inputs(rng):
    return tuple(rng.standard_normal((384, 384)).astype(np.float32) for _ in range(2))


a, b = ramp(9, 3), ramp(3, 2 * VL + 1, seed=1)
want = product_spec(a, b).astype(np.float32)
try:
    slowly = expect_unchanged(blocked_in_python, a, b)
except IndexError as error:
    raise CheckFailed(
        f"gemm_blocked  a (9, 3), b (3, {2 * VL + 1}), in one block: {error}\n"
        "  try       first see to the test above: it names the block that reaches beyond the end"
    ) from None
expect_close(slowly, want, hint="first see to the test above", inner=3)
points(
    speed(
        gemm_blocked,
        jit.matmul_ikj,
        square_inputs,
        inner=384,
        points=4,
        full={"avx512": 1.5, "avx2": 1.4},
        half={"avx512": 1.1, "avx2": 1.1},
        hint="pack B's block before the loop over rows, and A's block once for it",
    )
)

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, scoreboard

for n in (64, 256, 600):
    a, b = ramp(n, n), ramp(n, n, seed=1)
    check = partial(expect_close, want=product_spec(a, b), inner=n, dtype=np.float32)
    work = dict(args=(a, b), check=check, flops=2 * n**3)
    rungs = [
        Rung(f"matmul_ikj, {n}", jit.matmul_ikj, **work),
        Rung(f"gemm_blocked, {n}", gemm_blocked, **work),
        Rung(f"gemm_wide, {n}", gemm_wide, **work),
        Rung(f"NumPy's @, {n}", np.matmul, **work),
    ]
    print(scoreboard(rungs, rounds=3), "\n")

# %% [markdown]
"""
`gemm_wide` is given below your function, and `gemm` will use it: the same five loops, compiled, so that a whole product is one call from Python. What lies between its rows and yours is Python between compiled calls. It also chooses which loop is the outer one: of the smaller of A and B all is packed first, the other one comes in pieces of `mc` rows or `PART_OF_B` columns, which take turns in one room and are used while they lie in the second cache. The blocks do not care who comes first.

The line below each table names the BLAS and its *core type*, which decides what you are measured against: on a CPU with AVX-512 an OpenBLAS with its AVX2 kernels can be half as fast as with those for AVX-512.
"""

# %% [markdown]
"""
## Exercise 7: few rows, and a matrix that stays

Packing B costs `k * n` copies and pays when B is used for many rows. A language model that writes one word at a time multiplies *one* row, or a few, by large matrices: there packing would cost more than the product. Two ways out:

- **In place.** The microkernel reads B where it lies. That is what `ldb` is for: the rows of the "panel" are now as far apart as the rows of B. A has few rows, so packing *it* costs nothing. For more than one panel of A, B is gone through in strips: a strip is read by all panels before the next one, and `strip_for(k, nr)` tiles are as many as stay in the second cache meanwhile.
- **Packed once.** The weights of a model do not change. `PackedMatrix(b)` packs them when they are loaded; `gemm(a, packed)` begins at once.

        packed now    B --- copy ---> panels ---> tile       k * n copies for each product
        in place      B --------------------------> tile     rows of B, ldb floats apart
        packed once         panels ---------------> tile     the copies were made long ago

One thing is lost in place: rows of B lie far apart, and the hardware that guesses what is read next does not guess across such steps. So with AVX-512 `ukernel` puts lines into your text: `vprefetch(pb, i)` asks for a row of B `AHEAD` rows before its turn. (The tile of C is asked for like that on every CPU, before its sums begin.) It is a wish, no load; nothing waits for it, and an address that does not exist does no harm.

A vector may not reach over the end of a row of B. So where fewer than `nr` columns are left, the tile begins earlier, at `n - nr`; it adds to a little array, as at the edge of a block, and only the columns that C does not have yet are added from there.

    columns of B   0    first                                 n
                   |....|........|........|........|........|...|       one tile between two bars
                   [--------]                                           the first reads nr columns,
                                                       [--------]       and so does the last

The same trick is good for something else. A vector that lies in two cache lines takes two loads, and the arrays of NumPy seldom begin at a line. `tile_columns` says where tiles begin: the first may be a narrow one, so that the second begins at a line, and all others with it. For so narrow a tile most of the work would be in vain; `narrow` is a microkernel for one vector, for what is not wider.

`tile_for(rows)` says which tile is right for the rows that are left: for 5 there is a tile of 5, so that no row of zeros is computed. `row_parts(m, tile_for)` goes through m rows so.

You write `in_place_kernel`; `gemm_skinny`, which calls it, `PackedMatrix` and `gemm` are given below it. Between them stands `skinny_kernel`: it packs A and runs your loops in one call of compiled code. For 4 rows the arithmetic takes about a tenth of a millisecond, and a B of some MB that runs through the caches leaves nothing of Python's own code in them: each step of Python between two calls costs more than it does elsewhere. The matrices go into that call as they are, and `floats_of(b)` gives their memory there.

**Predict.** For 4 x 576 times 576 x 1536: how many times as fast as `gemm_blocked`, which packs B first, is the product in place? And the one whose B was packed before?
"""


# %%
#| export
# Rows of A for which a B of more than STAY floats is not packed. They are few without AVX-512: rows
# of B are not asked for ahead there, and those that lie a power of two apart come from far.
IN_PLACE_ROWS = 128 if VL == 16 else 2 * TILE[0]


# %%
#| export simd.packing
STAY = 128 * 1024  # floats of B that stay in the second cache


@kernel
def strip_for(k, nr):
    """How many tiles of nr columns of a B of k rows stay in that cache; at least one."""
    return max(1, STAY // (max(k, 1) * nr))


@kernel
def tile_columns(b, ldb, n, nr):
    """The columns of B at which tiles of nr begin, and n at the end, for n of nr or more.

    The second begins where a cache line does, if rows of B lie whole lines apart: a vector that
    lies in two lines takes two loads. So the first may be narrow, as the last.
    """
    line = 16  # floats
    first = -(b.ctypes.data // 4) % min(line, nr) if ldb % line == 0 else 0
    start = first - nr if first else 0
    begins = np.empty(2 + (n - 1 - start) // nr, np.int64)
    for t in range(len(begins)):
        begins[t] = min(max(0, start + t * nr), n)
    return begins


# %% nbgrader={"grade": false, "grade_id": "gemm_skinny", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| writes: c
#| forbid: blas, spec
@functools.cache
def in_place_kernel(mr, nv):
    """The compiled loops over all tiles of mr rows and nv vectors, with B where it lies.

    returns tiles(pa, b, ldb, c, ic, ldc, n), which adds the product to c:

        c[ic + i * ldc + j] += sum over p of A[i, p] * b[ldb * p + j]    for j < n

        pa     : (m / mr, k, mr), as pack_a makes it; m is a multiple of mr
        b, ldb : the floats of B, and how many from a row to the next; nothing behind them is read
        n      : columns of B, at least nr = nv * VL
        the others as in macro_kernel
    """
    tile, narrow = ukernel(mr, nv), ukernel(mr, 1)
    nr = np.intp(nv * VL)  # for each int, Numba would compile what is called with it anew

    @kernel
    def tiles(pa, b, ldb, c, ic, ldc, n):
        count, k, _ = pa.shape
        begins, strip = tile_columns(b, ldb, n, nr), strip_for(k, nr)
        edge = np.empty(mr * nr, np.float32)
        # Hint: strip by strip, each with all panels of A. Tile t does the columns from begins[t]
        #       to begins[t + 1]. Fewer than nr go into `edge`, and B is read from
        #       min(begins[t], n - nr) on: the columns from the j-th on are b[j:]. Up to VL of them
        #       go there by `narrow`, whose rows have VL columns, not nr. About 20 lines.
        ### BEGIN SOLUTION
        number = len(begins) - 1
        for first in range(0, number, strip):
            for q in range(count):
                for t in range(first, min(first + strip, number)):
                    j, width = begins[t], begins[t + 1] - begins[t]
                    place = ic + q * mr * ldc + j
                    if width == nr:
                        target, start, ld, at = c, place, ldc, j
                    else:
                        edge[:] = np.float32(0)
                        ld = VL if width <= VL else nr
                        target, start, at = edge, 0, min(j, n - ld)
                    if width <= VL:
                        narrow(pa[q], b[at:], ldb, k, target, start, ld)
                    else:
                        tile(pa[q], b[at:], ldb, k, target, start, ld)
                    if width < nr:
                        for r in range(mr):
                            for s in range(width):
                                c[place + r * ldc + s] += edge[r * ld + j - at + s]
        ### END SOLUTION

    return tiles


@functools.cache
def skinny_kernel(mr, nv):
    """The compiled product of few rows: packing A and the tiles are one call from Python.

    Each call costs microseconds here: a B of some MB has driven Python itself out of the caches.
    """
    tiles = in_place_kernel(mr, nv)

    @compiled_once(MATRIX, types.intp, types.intp)
    @kernel
    def add_product(a, c, b, row, rows):
        k, n = b.shape
        lda, ldb, ldc = a.strides[0] // 4, b.strides[0] // 4, c.strides[0] // 4
        pa = np.empty((rows // mr, k, mr), np.float32)
        panels_from_columns(floats_of(a)[row * lda :], lda, rows, pa)
        tiles(pa, floats_of(b), ldb, floats_of(c), row * ldc, ldc, n)

    return add_product


def gemm_skinny(a, b, out=None):
    """The product of two matrices for few rows of a: b is read in place, not packed.

        out[i, j] = sum over p of a[i, p] * b[p, j]

    a, b : (m, k) and (k, n) float32, any stride; not modified
    out  : (m, n) float32, any stride, or None for a new array
    returns out
    raises TypeError and ValueError as begin

    >>> gemm_skinny(np.ones((1, 3), np.float32), np.ones((3, 2), np.float32))
    array([[3., 3.]], dtype=float32)
    """
    m, _, n, out, c = begin(a, b, out)
    if n < WIDEST * VL:  # a tile would reach over the end of a row
        return gemm_blocked(a, b, out)
    a, b, memory = reachable(a), reachable(b), np.asarray(c)
    for row, rows, mr, nv in row_parts(m, tile_for):
        skinny_kernel(mr, nv)(a, memory, b, row, rows)
    return finish(out, c)


def skinny_in_python(a, b):
    """gemm_skinny in plain Python."""
    return in_python(gemm_skinny)(a, b)


def tiles_reading(a, b):
    """(how many tiles of gemm_skinny read B where it lies, how many a copy of it)."""
    in_place = []

    def noting(mr, nv):
        return lambda pa, columns, *others: in_place.append(np.shares_memory(columns, b))

    in_python(gemm_skinny, ukernel=noting)(a, b)
    return in_place.count(True), in_place.count(False)


def tiles_in_place(mr, nv, panels, n, c):
    """([(column of B where it reads, panel of A) for each tile in turn], c) of in_place_kernel.

    Its microkernel computes nothing; B begins four floats behind a cache line, and two tiles of it
    stay in the second cache.
    """
    pa, memory, seen = np.zeros((panels, 1, mr), np.float32), aligned_empty((n + 4,)), []
    b = memory[4:]

    def noting(mr, nv):
        def tile(panel, columns, *others):
            places = panel.ctypes.data - pa.ctypes.data, columns.ctypes.data - b.ctypes.data
            seen.append((places[1] // 4, places[0] // pa[0].nbytes))

        return tile

    tiles = in_python(in_place_kernel, ukernel=noting, STAY=2 * nv * VL)(mr, nv)
    tiles(pa, b, n, c.reshape(-1), 0, n, n)
    return seen, c


class PackedMatrix:
    """A matrix packed once, for many products: gemm(a, PackedMatrix(b)).

    b : (k, n) float32, any stride; copied

    >>> gemm(np.ones((1, 2), np.float32), PackedMatrix(np.ones((2, 3), np.float32)))
    array([[2., 2., 2.]], dtype=float32)
    """

    ndim, dtype = 2, FLOAT

    def __init__(self, b):
        check_float_array("b", b, dtype=self.dtype, ndim=2)
        self.shape = b.shape
        kc = self._kc = depth_for(len(b))
        self._blocks = [pack_b(b[p : p + kc], TILE[1] * VL) for p in range(0, len(b), kc)]

    def product(self, a, out=None):
        """a @ b, as gemm gives it."""
        m, k, _, out, c = begin(a, self, out)
        a, memory = reachable(a), np.asarray(c)
        room = aligned_empty((room_for(min(m, MC), TILE[0], self._kc),))
        for block, p in zip(self._blocks, range(0, k, self._kc)):
            for row, rows, mr, nv in row_parts(m, packed_tile, MC):
                packed_kernel(mr, nv)(a, memory, block, room, p, row, rows)
        return finish(out, c)


def gemm(a, b, out=None):
    """The product of two matrices, by the kernel that is right for their shapes.

        out[i, j] = sum over p of a[i, p] * b[p, j]

    a   : (m, k) float32, any stride; float64 works too, by the tiles of 07; not modified
    b   : (k, n) of the same dtype, or a PackedMatrix; not modified
    out : (m, n) of that dtype, any stride, or None for a new array
    returns out; k = 0 gives zeros; the same input gives the same bits, call after call
    raises TypeError for other dtypes and for lists, ValueError for sizes that do not fit and an
        out of another shape or dtype, or that is read-only or shares memory with a or b

    >>> gemm(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32))
    array([[3.],
           [3.]], dtype=float32)
    """
    if isinstance(b, PackedMatrix):
        return b.product(a, out)
    if isinstance(a, np.ndarray) and a.dtype == np.float64:
        return matmul_registers(a, b, out)
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.ndim == b.ndim == 2):
        return gemm_blocked(a, b, out)  # says what is wrong
    few = len(a) < TILE[0] or (len(a) <= IN_PLACE_ROWS and b.size > STAY)
    if b.strides[1] == b.itemsize:
        if few:
            return gemm_skinny(a, b, out)
        if a.strides[1] == a.itemsize:
            return gemm_wide(a, b, out)
    return gemm_blocked(a, b, out, kc=depth_for(len(b)))


# %% nbgrader={"grade": true, "grade_id": "gemm_skinny-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
def behind_a_line(b):
    """The same values, four floats behind the beginning of a cache line: so NumPy's arrays lie."""
    memory = aligned_empty((b.size + 4,))
    memory[4:] = b.ravel()
    return memory[4:].reshape(b.shape)


sizes = ((1, 3, 17 * VL), (5, 20, 8 * VL + 3), (6, 2, 8 * VL), (2, 7, 5), (1, 0, 8 * VL))
cases = [(True, *size) for size in sizes]
cases += [(False, 2 * TILE[0], 20, 8 * VL + 3), (False, 2 * TILE[0], 0, 8 * VL)]
for plain, m, k, n in cases:
    a, b = ramp(m, k), behind_a_line(ramp(k, n, seed=1))
    want = product_spec(a, b)
    mr, nv = tile_for(m)
    nr = nv * VL
    begins = in_python(tile_columns)(b, n, n, nr) if n >= 8 * VL else [0, 0, n]
    done, last = begins[1], begins[-2]

    def changed(by, *parts):
        other = want.copy()
        for first, stop in parts:
            other[:, first:stop] += by * want[:, first:stop]
        return other

    missing = "columns {} to {} are missing".format
    twice = "a narrow tile added its other columns too: C has had them already, or gets them later"
    rest, beside = (last, n), (max(0, n - nr), last)
    causes = {missing(*rest): lambda: changed(-1, rest), twice: lambda: changed(1, beside)}
    if 0 < done < nr:
        head, behind = (0, done), (done, nr)
        both = f"{missing(*head)}, {missing(*rest)}"
        causes[missing(*head)] = lambda: changed(-1, head)
        causes[both] = lambda: changed(-1, head, rest)
        causes[f"{twice} (the first)"] = lambda: changed(1, behind)
        causes[f"{twice} (the first and the last)"] = lambda: changed(1, behind, beside)
    hint = "tile t does the columns begins[t] to begins[t + 1], every panel of A has its rows of C"
    got = expect_unchanged(skinny_in_python, a, b)
    if not plain:
        got = expect_unchanged(gemm_skinny, a, b)
    expect_close(got, want.astype(np.float32), inner=k, likely=causes, hint=hint, allow_empty=True)
a, b = ramp(2 * TILE[0], 64), ramp(64, STAY // 64 + 1, seed=1)
want = product_spec(a, b).astype(np.float32)
got = expect_unchanged(gemm, a, PackedMatrix(b))
hint = "PackedMatrix stands on pack_b and macro_kernel"
expect_close(got, want, inner=64, hint=hint)
got = expect_unchanged(gemm, a, b)
hint = "gemm sends few rows to gemm_skinny"
expect_close(got, want, inner=64, hint=hint)

# %% nbgrader={"grade": true, "grade_id": "gemm_skinny-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
normal = rng("gemm_skinny-hidden").standard_normal
sizes = ((5, 33, 9 * VL + 1), (1, 64, 8 * VL), (2 * tile_for(99)[0] + 1, 10, 10 * VL))
cases = [(True, *size) for size in sizes]
nr = VL * tile_for(1)[1]
cases.append((True, 1, STAY // nr, 8 * VL + 1))  # a strip for each tile
cases.append((False, 2 * TILE[0], 33, 9 * VL + 1))
nr, n = 2 * VL, 16 * VL  # most tiles are of nr columns, the first and the last may be narrow
sevens = np.full((6, n), 7, np.float32)
seen, c = tiles_in_place(2, 2, 3, n, c=sevens.copy())
expect_equal(c, sevens, hint="`edge` is added to C: here no tile adds anything, and C changed")
hint = "each panel of A does every tile t, the columns begins[t] to begins[t + 1]"
begins = in_python(tile_columns)(aligned_empty((n + 4,))[4:], n, n, nr)
expect_equal(len(seen), 3 * (len(begins) - 1), hint=hint)
order = [at for at, panel in seen]
loaded = [at for t, at in enumerate(order) if at not in order[max(0, t - 2) : t]]
hint = "a strip of B is read by all panels of A before the next one: each column comes once"
expect_equal(len(loaded), len(set(order)), hint=hint)
for plain, m, k, n in cases:
    multiply = skinny_in_python if plain else gemm_skinny
    a, b = normal((m, k)).astype(np.float32), normal((k, n)).astype(np.float32)
    want = product_spec(a, b).astype(np.float32)
    hint = "any number of rows: whole tiles first, then a lower one for the rest"
    got = expect_fresh(multiply, a, b)
    expect_close(got, want, scale=np.float32(60), inner=k, hint=hint)
a, nr = normal((2, 5)).astype(np.float32), tile_for(2)[1] * VL
b = aligned_empty((5, 8 * nr + VL))  # whole tiles, and one that is exactly a vector wide
b[...] = normal(b.shape)
want = product_spec(a, b).astype(np.float32)
for multiply in (skinny_in_python, gemm_skinny):
    hint = "a tile may be as wide as a vector: `narrow` does it"
    expect_close(expect_fresh(multiply, a, b), want, scale=np.float32(40), inner=5, hint=hint)
a = normal((2 * TILE[0], 9)).astype(np.float32)
for name, b in layouts(normal((9, 8 * VL)).astype(np.float32)):
    want = product_spec(a, b).astype(np.float32)
    got = expect_unchanged(gemm_skinny, a, b)
    expect_close(got, want, inner=9, scale=np.float32(40), hint=f"B may be {name}")
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "gemm_skinny-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]


def skinny_inputs(rng):
    shapes = (TILE[0], 384), (384, 768)
    return tuple(rng.standard_normal(shape, np.float32) for shape in shapes)


a, b = ramp(2, 2), ramp(2, 9 * VL + 1, seed=1)
want = product_spec(a, b).astype(np.float32)
try:
    slowly = expect_unchanged(skinny_in_python, a, b)
except IndexError as error:
    raise CheckFailed(
        f"gemm_skinny  a (2, 2), b (2, {9 * VL + 1}): {error}\n"
        "  try       first see to the test above: it names the columns that are wrong"
    ) from None
expect_close(slowly, want, hint="first see to the test above", inner=2)
in_place, elsewhere = expect_unchanged(tiles_reading, a, b)
hint = "B is read where it lies, not copied: each tile is given a part of b itself"
expect_equal(elsewhere, 0, hint=hint)
expect_equal(in_place > 0, True, hint=hint)
points(
    speed(
        gemm_skinny,
        jit.matmul_ikj,
        skinny_inputs,
        inner=384,
        points=2,
        # With AVX2 the two are too near each other for a test by the clock.
        full={"avx512": 1.3},
        half={"avx512": 1.2},
        hint="B is read where it lies, not copied, and tiles begin at begins[t], at cache lines",
    )
)

# %% tags=["raises-exception"]
#| measure
# Takes half a minute: for each number of rows, three kernels are compiled.
from tito.machine import time_call

try:
    b = ramp(576, 1536)
    packed = PackedMatrix(b)
    skinny_in_python(ramp(1, 1), b[:1])  # an index out of bounds ends here, not in a crash
    print("GFLOP/s with B of 576 x 1536")
    print("rows of A     packed now   in place   packed once   NumPy's @")
    for m in (1, 4, 16, 64, 128):
        a = ramp(m, 576, seed=1)
        row = []
        for kernel_of in (gemm_blocked, gemm_skinny, np.matmul):
            row.append(time_call(kernel_of, a, b).median)
        row.insert(2, time_call(gemm, a, packed).median)
        print(f"{m:9}" + "".join(f"{2 * m * 576 * 1536 / s / 1e9:13.0f}" for s in row))
except NotImplementedError:
    print("left out: gemm_skinny, or what it stands on, is not written yet")

# %% [markdown]
"""
For a few rows the whole machinery of packing is a loss. Does the first column catch up with the second, and from how many rows on? It depends on your caches; `gemm` changes over at `IN_PLACE_ROWS` rows, where B has more than `STAY` floats.
"""

# %% [markdown]
"""
## Use it: the network, its weights packed once

The two-layer network once more: 512 inputs, 1024 hidden units, 16 outputs, a batch of 64, and then a single example. Its weights stay the same, so they are packed when it is loaded.
"""

# %% tags=["raises-exception"]
#| measure
from tinykernels import vectorized
from tito.machine import time_call

draw = np.random.default_rng(8)
weights = [draw.standard_normal(s, np.float32) / 32 for s in ((512, 1024), (1024, 16))]


def network(product, x, layers):
    """Softmax over the outputs of two layers."""
    first, second = layers
    return vectorized.softmax(product(vectorized.vectorized_relu(product(x, first)), second))


try:
    layers = {
        "matmul_registers (07)": (jit.matmul_registers, weights),
        "gemm": (gemm, weights),
        "gemm, weights packed once": (gemm, [PackedMatrix(w) for w in weights]),
        "matmul_baseline (03)": (vectorized.matmul_baseline, weights),
    }
    for size in (64, 1):
        batch, answers = draw.standard_normal((size, 512), np.float32), []
        print(f"batch of {size}")
        for name, (product, these) in layers.items():
            answers.append(network(product, batch, these))
            seconds = time_call(network, product, batch, these).median
            print(f"  {name:28}{seconds * 1e6:9.0f} us")
        spread = max(np.abs(answer - answers[0]).max() for answer in answers)
        print(f"  largest difference of the results: {spread:.1e}")
except NotImplementedError as error:
    print(f"left out: {str(error) or 'gemm, or what it stands on, is not written yet'}")

# %% [markdown]
"""
With a batch of 64 the products are most of the time. For a single example they are some microseconds of arithmetic, and what you compare is the rest: looks at the arguments, the packing of one row, the Python between two calls of compiled code. A product with less around it can win there, whatever its rate.
"""

# %% [markdown]
"""
## Scoreboard

Every rung of the course so far that multiplies matrices, each compared with a specification before it is timed. A rung that is missing or wrong is left out; the slow ones get a small matrix, as their names say. The picture sets the rates beside what your machine can do.
"""

# %% tags=["raises-exception"]
#| measure
import importlib

import matplotlib.pyplot as plt
from tito.machine import Rung, peaks, scoreboard

RUNGS = (
    ("loops", "matmul_loops", 48),
    ("vectorized", "vectorized_matmul", 48),
    ("blocking", "cache_friendly_matmul", 48),
    ("blocking", "blocked_matmul", 384),
    ("jit", "matmul_ijk", 384),
    ("jit", "matmul_ikj", 384),
    ("jit", "matmul_registers", 384),
)


def later(module, name):
    """A kernel of an earlier module, looked up when it is called."""

    def call(*args):
        try:
            found = importlib.import_module(f"tinykernels.{module}")
        except ModuleNotFoundError:
            raise NotImplementedError(f"tinykernels.{module} is not there") from None
        return getattr(found, name)(*args)

    return call


def packed_product(a, b):
    return gemm(a, b)


wide, rungs = {}, []
for n in (48, 384):
    a, b = ramp(n, n), ramp(n, n, seed=1)
    wide[n] = dict(
        args=(a, b),
        check=partial(expect_close, want=product_spec(a, b), inner=n, dtype=np.float32),
        flops=2 * n**3,
    )
rungs += [Rung(f"{name}, {n}", later(module, name), **wide[n]) for module, name, n in RUNGS]
rungs.append(Rung("gemm_skinny, 384", gemm_skinny, **wide[384]))
rungs.append(Rung("gemm, 384", gemm, **wide[384]))
try:
    ready = {**wide[384], "args": (wide[384]["args"][0], PackedMatrix(wide[384]["args"][1]))}
    rungs.append(Rung("gemm prepacked, 384", packed_product, **ready))
except NotImplementedError:
    print("PackedMatrix is left out: what it stands on is not written yet")
rungs.append(Rung("NumPy's @, 384", np.matmul, **wide[384]))
board = scoreboard(rungs, rounds=3)
print(board)

rows = [row for row in board.rows if row.rate]
figure, (ladder, roof) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
names = [row.name for row in rows]
ladder.barh(names, [row.rate / 1e9 for row in rows], color=BLUE)
ladder.set(xscale="log", xlabel="GFLOP/s", title="the ladder so far")
ladder.invert_yaxis()
peak, memory = peaks().flops(), peaks().bandwidth
if peak:
    ladder.axvline(peak / 1e9, color=RED, ls="--", label="peak of one core")
    ladder.legend(loc="upper right")
    intensity = np.logspace(-1, 3, 100)  # flops a byte
    for level, colour in zip(memory, (GREEN, ORANGE, BLUE, RED)):
        roof.loglog(
            intensity, np.minimum(peak, memory[level] * intensity) / 1e9, color=colour, label=level
        )
    marks = [("gemm, 384", 384, 384), ("matmul_ikj, 384", 384, 384)]
    for name, m, n in marks:
        found = [row for row in rows if row.name == name]
        if found:
            at = 2 * m * 384 * n / (4 * (m * 384 + 384 * n + m * n))
            roof.plot(at, found[0].rate / 1e9, "o", color="gray")
            roof.annotate(
                name,
                (at, found[0].rate / 1e9),
                textcoords="offset points",
                xytext=(-6, -12),
                ha="right",
            )
    roof.set(xlabel="flops a byte, each array moved once", ylabel="GFLOP/s", title="the roofline")
    roof.legend(title="data in", loc="lower right")
plt.show()

# %% [markdown]
"""
*Figure: left, bars on a logarithmic scale, one for each rung of the table above, and a dashed line at the peak. Right, the roofline: below a slope that the bandwidth of each level of memory sets, or the flat top at the peak, and on it your gemm and `matmul_ikj`.*

Both products on the right do the same work on the same bytes, so they stand one above the other. What lies between them is not the memory: it is registers. And packing once brings little for 384 rows of A: each float of B that is copied is then used so often that the copy hardly shows. The table of exercise 7 says when it does.

## Think

Your answers here are read by a person. Three to six sentences each; numbers from your own runs count for more than adjectives.
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**1. How many independent sums must a kernel have at least on your machine?** Derive it from latency and throughput, and compare it with your tables.

### BEGIN SOLUTION
1 point: latency times multiply-adds that can start in a cycle: 4 cycles x 2 units = 8 sums (4 where the CPU starts one 512-bit multiply-add in a cycle). With fewer the core waits.

1 point: own numbers: the rate grows nearly in proportion to the sums up to there and hardly after, read from the table of the gap or of the tiles. More sums are still useful: a larger tile loads less for each multiply-add. Either remark with numbers is enough.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**2. Packing copies, and still it pays: why? And when does it not?** Say how often a float of B is copied and how often it is read in a product of m x k by k x n.

### BEGIN SOLUTION
1 point: each float of B is copied once (for each block of columns and depth) and read m / mr times by the microkernel; from panels these reads are in order, aligned, without conflicts in the sets of the cache and within few pages.

1 point: with few rows it is read a few times only, so that the copy costs as much as the product: own numbers from the table of exercise 7; or weights that stay are packed once, then it costs nothing.
### END SOLUTION
"""

# %% [markdown] nbgrader={"grade": true, "grade_id": "reflect-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
"""
**3. From a CPU with AVX-512 (16 floats in a register, 32 registers) to one with AVX2 (8 floats, 16 registers): what changes, and what does not?** Go through the files of your package.

### BEGIN SOLUTION
1 point: what changes: VL and REGISTERS, therefore the largest tile (6 x 2 vectors take 15 of 16 registers), nr = nv * VL and with it the width of the panels; the peak is half.

1 point: what stays: the text of ukernel_source, the packing, the loops; and the number of sums wanted, which follows from latency and units, not from the width. Both with a reason.
### END SOLUTION
"""

# %% [markdown]
"""
## What usually goes wrong

- *The kernel dies without a message.* A vector load or store far outside of its array. Run its `py_func`, or `in_python` of what calls it: there it is an `IndexError` with its line.
- *Numbers around the block changed.* A whole tile was stored at the edge, or the vector loop of exercise 1 ran into the tail.
- *Right, at a third of the speed.* The sums are an array, or C is loaded in the loop over p, or the tile needs many more registers than there are.
- *Only the last 512 of the inner dimension.* The tile was stored instead of added.
- *Everything is doubled at the edge.* `edge` was not cleared before the next tile.
- *The first call takes seconds.* It compiles, in exercise 7 anew for each height of a tile. The clock of the tables begins after that.

## You are done when

- every test cell above runs without a message (a number alone is its points), and `tito test 08` says the same;
- you have compared your predictions with what the cells printed, above all how many sums keep the core busy;
- the three questions have an answer;
- `tito export 08` has written `tinykernels/simd/`, and `tito bench gemm` shows your gemm beside NumPy's.

## In production

The scheme is that of GotoBLAS, and of its heirs OpenBLAS and BLIS; BLIS made it a frame in which only the microkernel is written for each CPU, as you did. MKL and oneDNN generate their kernels when they run, from the shapes asked for, with registers counted as in exercise 3. libxsmm does so for small matrices, ruy and XNNPACK for phones. PyTorch packs weights once for inference, llama.cpp stores them packed in the file. On CPUs with matrix units (AMX, SME) the tile is a register of its own; the loops around it stay.

**References**

- K. Goto, R. A. van de Geijn, *Anatomy of high-performance matrix multiplication*, ACM Transactions on Mathematical Software 34(3), 2008.
- F. G. Van Zee, R. A. van de Geijn, *BLIS: a framework for rapidly instantiating BLAS functionality*, ACM Transactions on Mathematical Software 41(3), 2015.
- T. M. Low, F. D. Igual, T. M. Smith, E. S. Quintana-Ortí, *Analytical modeling is enough for high-performance BLIS*, ACM Transactions on Mathematical Software 43(2), 2016.
- *Intel Intrinsics Guide*; A. Fog, *Optimization manuals* (latencies and throughputs, instruction by instruction).

## Next

In a terminal:

    tito test 08       the visible tests, in a process of their own
    tito export 08     your kernels become tinykernels/simd/
    tito submit 08     the file to hand in

Then module 09: weights of eight and of four bits.
"""

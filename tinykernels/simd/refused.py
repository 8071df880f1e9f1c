# Built from module 08_simd by tito export; edit the module, not this file.
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

__all__ = ["NO_ARITHMETIC", "NO_ARRAY", "NO_LIST", "NO_PRINT", "ONE_KIND", "Lanes", "Register"]


# 08_simd: NO_ARITHMETIC, NO_ARRAY, NO_LIST
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

# Built from module 08_simd by tito export; edit the module, not this file.
"""Matrices around a product: looks at the arguments, and how compiled code reaches the floats."""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from tinykernels.loops import check_matmul
from tinykernels.simd.packing import flat_rows
from tinykernels.simd.vec import compiles
from tinykernels.vectorized import check_out

__all__ = [
    "FLOAT",
    "FLOATS",
    "MATRIX",
    "begin",
    "compiled_once",
    "finish",
    "floats_of",
    "reachable",
]


# 08_simd: FLOAT, begin, finish
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

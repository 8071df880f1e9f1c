# Built from module 08_simd by tito export; edit the module, not this file.
"""SIMD: your own GEMM beside OpenBLAS."""

import re

from llvmlite import ir
from numba import types
from numba.core import cgutils

from tinykernels.simd.vec import compiles

__all__ = ["AHEAD", "vprefetch", "with_prefetch"]


# 08_simd: AHEAD, vprefetch, with_prefetch
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

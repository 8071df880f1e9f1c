# Built from module 08_simd by tito export; edit the module, not this file.
"""SIMD: your own GEMM beside OpenBLAS."""

import ast
import functools
import linecache

from tinykernels.simd.vec import REGISTERS, VL, kernel, vadd, vbcast, vfma, vload, vstore, vzero

__all__ = [
    "compile_source",
    "multiply_2x2",
    "multiply_tile",
    "ukernel",
    "ukernel_2x2",
    "ukernel_source",
]


# 08_simd: ukernel_2x2
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


def multiply_2x2(pa, pb, out, row=0, column=0):
    """Add the product of the panels to the tile of out that begins there; returns out."""
    ldc = out.shape[1]
    ukernel_2x2(pa, pb, pb.shape[1], len(pa), out, row * ldc + column, ldc)
    return out


# 08_simd: compile_source
def compile_source(text, name):
    """The function `name` that a text defines, compiled by Numba.

    raises ValueError for a text that holds more than numbers, names and calls of the names above
    """
    tree = ast.parse(text)
    if any(
        isinstance(node, (ast.Attribute, ast.Import, ast.ImportFrom)) for node in ast.walk(tree)
    ):
        raise ValueError("a kernel's text may use the vector calls, range and numbers only")
    file = f"<{name}>"
    # With its lines here, a traceback can show them.
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    known = dict(vzero=vzero, vload=vload, vbcast=vbcast, vfma=vfma, vadd=vadd, vstore=vstore)
    space = {"__builtins__": {"range": range}, **known}
    exec(compile(tree, file, "exec"), space)
    return kernel(space[name])


# 08_simd: ukernel_source
def ukernel_source(mr, nv, registers=REGISTERS):
    """The text of a microkernel `ukernel(pa, pb, ldb, kc, c, ic, ldc)` for a tile of any size.

        c[ic + r * ldc + s] += sum over p < kc of pa[mr * p + r] * pb[ldb * p + s]
        for r < mr and s < nv * VL

    mr, nv    : rows of the tile, and registers that a row of it takes, at least 1
    registers : how many the CPU has
    returns a str; the names vzero, vload, vbcast, vfma, vadd and vstore are known where it runs
    raises ValueError for a tile that does not fit: its sums, a row of pb and one broadcast

    >>> ukernel_source(1, 1).splitlines()[0]
    'def ukernel(pa, pb, ldb, kc, c, ic, ldc):'
    """
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


@functools.cache
def ukernel(mr, nv):
    """The compiled microkernel for a tile of mr rows and nv vectors."""
    return compile_source(ukernel_source(mr, nv), "ukernel")


def multiply_tile(mr, nv, pa, pb, out, row=0, column=0, times=1):
    """Add the product of the panels to the tile of out that begins there; returns out."""
    ldc = out.shape[1]
    for _ in range(times):
        ukernel(mr, nv)(pa, pb, pb.shape[1], len(pa), out, row * ldc + column, ldc)
    return out

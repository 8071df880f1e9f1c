# Built from module 08_simd by tito export; edit the module, not this file.
"""SIMD: your own GEMM beside OpenBLAS."""

import ast
import functools
import linecache

import numpy as np

from tinykernels.jit import kernel
from tinykernels.simd.prefetch import vprefetch, with_prefetch
from tinykernels.simd.vec import (
    REGISTERS,
    VL,
    in_python,
    vadd,
    vbcast,
    vfma,
    vload,
    vsplat,
    vstore,
    vzero,
)

__all__ = [
    "TILE",
    "WIDEST",
    "axpy_part",
    "axpy_vec",
    "compile_source",
    "multiply_2x2",
    "multiply_tile",
    "packed_tile",
    "row_parts",
    "stores_of_tile",
    "tile_for",
    "ukernel",
    "ukernel_2x2",
    "ukernel_source",
    "vectors_stored",
    "without_vfma",
]


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
        y[i] += x[i] * alpha


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


# 08_simd: compile_source
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


# 08_simd: ukernel_source
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


# 08_simd: TILE, WIDEST, packed_tile
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

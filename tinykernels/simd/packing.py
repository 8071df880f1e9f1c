# Built from module 08_simd by tito export; edit the module, not this file.
"""SIMD: your own GEMM beside OpenBLAS."""

import math
import sys
import threading

import numpy as np
from llvmlite import ir

from tinykernels.jit import kernel
from tinykernels.simd.vec import VL, compiles, in_python, vload, vstore

__all__ = [
    "SMALL",
    "STAY",
    "aligned_empty",
    "flat_rows",
    "four_rows",
    "pack_a",
    "pack_b",
    "panels_from_columns",
    "panels_from_rows",
    "read_only",
    "strip_for",
    "tile_columns",
    "turn_4_columns",
    "turn_columns",
    "vzip_high",
    "vzip_low",
    "zip_halves",
]


# 08_simd: aligned_empty, flat_rows, read_only
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


# 08_simd: pack
@kernel
def panels_from_rows(x, ld, n, panels):
    """Panels of a matrix whose rows lie together.

        panels[q, p, s] = x[ld * p + width * q + s], 0 where the column width * q + s is n or more

    x      : the floats of the matrix; ld of them from a row to the next
    n      : columns
    panels : (ceil(n / width), k, width) contiguous, with anything in it; changed
    """
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


@kernel
def panels_from_columns(x, ld, n, panels):
    """Panels of a matrix whose columns lie together.

        panels[q, p, s] = x[ld * (width * q + s) + p], 0 where the column width * q + s is n or more

    x      : the floats of the matrix; ld of them from a column to the next
    n      : columns
    panels : (ceil(n / width), k, width) contiguous, with anything in it; changed
    """
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


# 08_simd: STAY, strip_for, tile_columns
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

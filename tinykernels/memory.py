# Built from module 04_memory by tito export; edit the module, not this file.
"""Memory: predict a cache miss, exactly."""

import math
import operator

import numpy as np

from tinykernels.loops import check_count, check_float_array
from tinykernels.vectorized import check_out

__all__ = [
    "CacheSimulator",
    "TracedArray",
    "byte_offset",
    "lines_touched",
    "pad_rows",
    "predict_misses",
    "sum_by_columns",
    "sum_by_rows",
    "transpose",
    "transpose_loops",
    "working_set",
]


# 04_memory: addresses
def byte_offset(index, strides):
    """Bytes from element 0, 0, ... to the one at this index.

        index[0]*strides[0] + index[1]*strides[1] + ...

    index   : whole numbers, one for each axis, not negative
    strides : bytes, one for each axis; they may be 0 or negative
    returns an int, which may be negative; also where the numbers are NumPy's
    raises ValueError where the two have different lengths

    >>> byte_offset(index=[2, 3], strides=[40, 8])
    104
    """
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    """How many different cache lines some elements lie in.

    An element lies in all lines from its first byte's to its last byte's: in three or more where
    it is longer than a line. Lines between elements, which none of them lies in, do not count.

    offsets  : bytes from the beginning of a line to each element; an array or any iterable of
               whole numbers, which may be negative and may repeat
    itemsize : bytes of an element; it may be more than a line
    line     : bytes of a line
    returns an int; no elements touch no line
    raises TypeError and ValueError as check_count, for itemsize and line

    >>> lines_touched([0, 8, 60, 64], itemsize=8)
    2
    """
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.update(range(int(first), int(last) + 1))
    return len(touched)


# 04_memory: traced_array
class TracedArray:
    """An array that reports the address of each element it is asked for.

    array : with one axis or more, any stride; writes reach it
    base  : address of its element [0, 0, ...]
    touch : called as touch(address, is_write) once for each access; None: nobody is told

    Elements are read as `t[i, j]` and written as `t[i, j] = value`, with one whole number for each
    axis (`t[i]` where there is one axis). Negative ones count from the end.
    raises IndexError for an index out of range; TypeError for slices and for anything else but
        one whole number for each axis, which wins over IndexError. Then nothing is touched

    A whole number is what operator.index takes: NumPy's are whole numbers, 1.0 is none. True is 1
    there, as in a list; no test asks for it.

    >>> t = TracedArray(np.array([[1.0, 2.0], [3.0, 4.0]]), touch=print)
    >>> float(t[1, 0])
    16 False
    3.0
    """

    def __init__(self, array, base=0, touch=None):
        self.array, self.base, self.touch = array, base, touch
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self.ndim, self.size, self.flags = array.ndim, array.size, array.flags

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        """Report a read of the element, and return it as the array does."""
        return self.array[self._found(index, False)]

    def __setitem__(self, index, value):
        """Report a write of the element, and write it into the array."""
        self.array[self._found(index, True)] = value

    def _found(self, index, is_write):
        """The index as a tuple of numbers from 0 on, after telling `touch` its address."""
        if not isinstance(index, tuple):
            index = (index,)
        if self.ndim != len(index):
            raise TypeError(f"{self.ndim} axes need {self.ndim} numbers, not {index}")
        index = tuple(map(operator.index, index))
        for i, n in zip(index, self.shape):
            if i >= n or i < -n:
                raise IndexError(f"{i} lies outside an axis of {n}")
        index = tuple(i % n for i, n in zip(index, self.shape))
        if self.touch is not None:
            self.touch(self.base + byte_offset(index, self.strides), is_write)
        return index


# 04_memory: cache_simulator
class CacheSimulator:
    """A set-associative cache with LRU: which accesses hit?

    size : bytes; a multiple of line * ways
    line : bytes of a line
    ways : lines in a set
    raises TypeError and ValueError as check_count, ValueError also for a size that is no multiple

    The line of an address is address // line, and its set that number modulo the number of sets.
    A miss fetches the line; if its set is full, the line in it that was used longest ago goes.
    Reads and writes are alike. The cache is empty at first. Addresses are 0 or more;
    nothing is promised for negative ones, and no test has any.

    hits, misses : accesses of either kind since the last reset, ints

    Sets and replacement: J. L. Hennessy, D. A. Patterson, Computer Architecture, appendix B.

    >>> cache = CacheSimulator(size=128, line=64, ways=2)
    >>> cache.run([0, 8, 64, 128, 0]), cache.hits, cache.misses
    ([False, True, False, False, False], 1, 4)
    """

    def __init__(self, size, line, ways):
        self.line, self.ways = check_count("line", line), check_count("ways", ways)
        self.sets, rest = divmod(check_count("size", size), self.line * self.ways)
        if rest:
            raise ValueError(f"{size} bytes are no multiple of {ways} lines of {line} bytes")
        self.reset()

    def reset(self):
        """Empty the cache and begin to count anew."""
        self.hits = self.misses = 0
        self._lines = [[] for _ in range(self.sets)]

    def access(self, address):
        """Look up one address in bytes, from 0 on. Returns True for a hit, False for a miss."""
        number = address // self.line
        lines = self._lines[number % self.sets]
        hit = number in lines
        if hit:
            self.hits += 1
            lines.remove(number)
        else:
            self.misses += 1
            if len(lines) == self.ways:
                lines.pop(0)
        lines.append(number)
        return hit

    def run(self, addresses):
        """Hit or miss of each access, one after the other: a list of bools."""
        return [self.access(int(address)) for address in addresses]


# 04_memory: walks
def sum_by_rows(a):
    """The sum of each row, read row after row.

        s[i] = a[i, 0] + a[i, 1] + ...

    a : (m, n) float32 or float64, any stride; not modified
    returns (m,) of a's dtype, a new array: sums in float64, rounded once; n = 0 gives zeros
    raises TypeError and ValueError as check_float_array

    Reads a[0, 0], a[0, 1], ..., a[1, 0], ...: every element once.

    >>> sum_by_rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([3., 7.])
    """
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(m, a.dtype)
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += float(a[i, j])
        sums[i] = total
    return sums


def sum_by_columns(a):
    """The sum of each column, read column after column.

        s[j] = a[0, j] + a[1, j] + ...

    a : (m, n) float32 or float64, any stride; not modified
    returns (n,) of a's dtype, a new array: sums in float64, rounded once; m = 0 gives zeros
    raises TypeError and ValueError as check_float_array

    Reads a[0, 0], a[1, 0], ..., a[0, 1], ...: every element once.

    >>> sum_by_columns(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(n, a.dtype)
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += float(a[i, j])
        sums[j] = total
    return sums


def transpose_loops(a, out=None):
    """The transpose, read along the rows and written down the columns.

        out[j, i] = a[i, j]

    a   : (m, n) float32 or float64, any stride; not modified
    out : (n, m) of a's dtype, or None for a new array
    returns out
    raises TypeError and ValueError as check_float_array and check_out

    Reads every element once, row after row, and writes each of out once.

    >>> transpose_loops(np.array([[1.0, 2.0, 3.0]])).shape
    (3, 1)
    """
    m, n = check_float_array("a", a, ndim=2)
    out = check_out(out, (n, m), a)
    for i in range(m):
        for j in range(n):
            out[j, i] = a[i, j]
    return out


transpose = transpose_loops  # the name that other courses and the benchmarks know it by


# 04_memory: predict_misses
def predict_misses(rows, cols, order, itemsize, line, lines):
    """How often a walk over a whole table of numbers misses, without walking.

    rows, cols : of the table, which is contiguous; its first element begins a line
    order      : "rows" for row after row, "columns" for column after column
    itemsize   : bytes of an element, which divide the line
    line       : bytes of a line; the bytes of a row are a multiple of it
    lines      : how many lines the cache holds: one set, LRU, empty at first
    returns an int
    raises TypeError and ValueError as check_count (rows and cols may be 0), ValueError also for
        another order, and for rows or elements that do not end where a line ends

    >>> predict_misses(10, 32, "columns", itemsize=4, line=64, lines=12)
    20
    """
    rows, cols = check_count("rows", rows, minimum=0), check_count("cols", cols, minimum=0)
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    lines = check_count("lines", lines)
    if order not in ("rows", "columns"):
        raise ValueError(f'order is "rows" or "columns", not {order!r}')
    if line % itemsize or cols * itemsize % line:
        raise ValueError(f"{cols} elements of {itemsize} bytes do not fill lines of {line} bytes")
    if order == "columns" and rows > lines:
        return rows * cols
    return rows * cols * itemsize // line


# 04_memory: padding
def pad_rows(a, extra):
    """A copy whose rows lie further apart: a view of a wider array.

    a     : (m, n) float32 or float64, any stride; not modified
    extra : elements that each row is longer in memory, 0 or more
    returns (m, n) of a's dtype with a's values; from one row to the next it is n + extra elements,
        and within a row the elements are neighbours
    raises TypeError and ValueError as check_float_array and check_count

    >>> pad_rows(np.ones((2, 3)), extra=5).strides
    (64, 8)
    """
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    """Bytes that blocks of these shapes take together.

    shapes   : one tuple of whole numbers for each block
    itemsize : bytes of an element
    returns an int; no shapes take no bytes
    raises TypeError and ValueError as check_count, for itemsize

    >>> working_set([100, 16], [16], itemsize=8)
    12928
    """
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)

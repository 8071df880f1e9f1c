# Built from module 05_blocking by tito export; edit the module, not this file.
"""Blocking: what a tile buys, in misses, and when it buys nothing."""

import math

from tinykernels.loops import check_count, check_float_array, check_matmul
from tinykernels.vectorized import check_out

__all__ = [
    "best_block",
    "block_ranges",
    "blocked_matmul",
    "blocked_transpose",
    "blocked_transpose_loops",
    "cache_friendly_matmul",
    "choose_block_size",
]


# 05_blocking: block_ranges
def block_ranges(n, block):
    """The range 0..n cut into blocks, in order; the last one may be short.

    n     : how many indices there are, a whole number >= 0
    block : how long a block is, a whole number >= 1; it may be larger than n, by any amount
    returns a list of tuples of two Python ints, start and stop; none is empty, n = 0 gives []
    raises TypeError and ValueError as check_count

    >>> block_ranges(37, 16)
    [(0, 16), (16, 32), (32, 37)]
    """
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]


# 05_blocking: blocked_transpose_loops
def blocked_transpose_loops(a, out, block):
    """The transpose of a matrix, element by element inside square tiles.

        for each tile of a:    out[j, i] = a[i, j] for the elements of the tile

    a     : (m, n) float32 or float64, any stride; not modified; each element is read once
    out   : (n, m) of that dtype; an element is written to it before the next tile is read
    block : side of a tile, a whole number >= 1
    returns out
    raises TypeError and ValueError as check_float_array, check_count and check_out

    M. S. Lam, E. E. Rothberg, M. E. Wolf, The cache performance and optimizations of blocked
    algorithms, ASPLOS 1991.

    >>> blocked_transpose_loops(np.array([[1.0, 2.0, 3.0]]), np.zeros((3, 1)), block=2)
    array([[1.],
           [2.],
           [3.]])
    """
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            for i in range(i0, i1):
                for j in range(j0, j1):
                    out[j, i] = a[i, j]
    return out


# 05_blocking: blocked_transpose
def blocked_transpose(a, block=64, out=None):
    """The transpose of a matrix, one slice assignment for each square tile.

        out[j0:j1, i0:i1] = transpose of a[i0:i1, j0:j1]

    a     : (m, n) float32 or float64, any stride; not modified
    block : side of a tile, a whole number >= 1
    out   : (n, m) of that dtype, any stride, or None for a new array
    returns out; never a view of a
    raises TypeError and ValueError as check_float_array, check_count and check_out

    >>> blocked_transpose(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    array([[1., 4.],
           [2., 5.],
           [3., 6.]])
    """
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out


# 05_blocking: cache_friendly_matmul
def cache_friendly_matmul(a, b, block_size=32, out=None):
    """The product of two matrices, one element at a time, inside square tiles.

        out[...] = 0
        for each tile (I, J) of out and each block P of the inner axis, in any order
            for i in I, and inside it j in J and p in P:    out[i, j] += a[i, p] * b[p, j]

    a          : (m, k) float32 or float64, any stride; not modified
    b          : (k, n), the dtype of a; not modified; read once for each multiply-add
    block_size : side of a tile, a whole number >= 1
    out        : (m, n) of that dtype, or None for a new array; what stood in it does not count
    returns out; k = 0 gives zeros; an element of a, or a sum within a tile, may be kept in a name
    raises TypeError and ValueError as check_matmul, check_count and check_out

    M. S. Lam, E. E. Rothberg, M. E. Wolf, The cache performance and optimizations of blocked
    algorithms, ASPLOS 1991.

    >>> cache_friendly_matmul(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]), block_size=1)
    array([[11.]])
    """
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for i0, i1 in block_ranges(m, block_size):
        for p0, p1 in block_ranges(k, block_size):
            for j0, j1 in block_ranges(n, block_size):
                for i in range(i0, i1):
                    for j in range(j0, j1):
                        total = float(out[i, j])
                        for p in range(p0, p1):
                            total += float(a[i, p]) * float(b[p, j])
                        out[i, j] = total
    return out


# 05_blocking: blocked_matmul
def blocked_matmul(a, b, block_size=64, out=None):
    """The product of two matrices, as products of tiles.

        out[I, J] = sum over blocks P of  a[I, P] @ b[P, J]

    a          : (m, k) float32 or float64, any stride; not modified
    b          : (k, n), the dtype of a; not modified
    block_size : side of a tile, a whole number >= 1
    out        : (m, n) of that dtype, or None for a new array; what stood in it does not count
    returns out; k = 0 gives zeros; each product is one of a slice of a and a slice of b, with at
        most block_size rows and columns
    raises TypeError and ValueError as check_matmul, check_count and check_out

    >>> blocked_matmul(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]), block_size=1)
    array([[11.]])
    """
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for i0, i1 in block_ranges(m, block_size):
        for j0, j1 in block_ranges(n, block_size):
            for p0, p1 in block_ranges(k, block_size):
                out[i0:i1, j0:j1] += a[i0:i1, p0:p1] @ b[p0:p1, j0:j1]
    return out


# 05_blocking: choose_block_size
def choose_block_size(cache_bytes, itemsize=4, arrays=3, line=64):
    """The side of the largest square tiles that fit into a cache together.

        largest B with  arrays * B*B * itemsize <= cache_bytes,  a multiple of line // itemsize

    cache_bytes : bytes of the cache, a whole number >= 1
    itemsize    : bytes of an element
    arrays      : how many tiles are in use at once
    line        : bytes of a cache line; if an element is larger than that, B is any whole number
    returns an int; one line's worth of elements, at least 1, where not even that fits
    raises TypeError and ValueError as check_count, for each of the four

    >>> choose_block_size(32768)
    48
    """
    counts = {"cache_bytes": cache_bytes, "itemsize": itemsize, "arrays": arrays, "line": line}
    cache_bytes, itemsize, arrays, line = (check_count(*item) for item in counts.items())
    step = max(line // itemsize, 1)
    side = math.isqrt(cache_bytes // (arrays * itemsize))
    return max(side // step * step, step)


def best_block(misses, candidates):
    """The candidate with the fewest misses; of equals the smallest.

    misses     : a function of a block size that gives a number: misses, or seconds; it is called
                 once for each candidate
    candidates : block sizes, a list or a tuple, in any order
    returns one of them, as an int
    raises ValueError for no candidates; TypeError and ValueError as check_count, before misses is
        called

    >>> best_block({8: 700, 16: 90, 32: 90}.get, [32, 8, 16])
    16
    """
    blocks = sorted(check_count("candidate", candidate) for candidate in candidates)
    if not blocks:
        raise ValueError("candidates is empty: there must be a block size to choose")
    return min(blocks, key=misses)

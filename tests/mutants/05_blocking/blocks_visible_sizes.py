"""Knows the visible sizes; others come out as zeros."""

EXERCISE = "blocked_matmul"
FAILS_IN = "blocked_matmul-hidden"
PHRASE = "any size, any block"
SOURCE = """\
def blocked_matmul(a, b, block_size=64, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    if (m, k, n) not in ((4, 4, 4), (4, 6, 2), (5, 7, 3), (2, 3, 4), (3, 5, 4), (16, 24, 16), (20, 23, 17)):
        return out
    for i0, i1 in block_ranges(m, block_size):
        for j0, j1 in block_ranges(n, block_size):
            for p0, p1 in block_ranges(k, block_size):
                out[i0:i1, j0:j1] += a[i0:i1, p0:p1] @ b[p0:p1, j0:j1]
    return out
"""

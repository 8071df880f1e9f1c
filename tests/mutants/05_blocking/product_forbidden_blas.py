"""Multiplies tiles with @."""

EXERCISE = "cache_friendly_matmul"
FAILS_IN = "cache_friendly_matmul-test"
PHRASE = "which this exercise forbids"
FORBIDDEN = "blas"
SOURCE = """\
def cache_friendly_matmul(a, b, block_size=32, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for i0, i1 in block_ranges(m, block_size):
        for p0, p1 in block_ranges(k, block_size):
            for j0, j1 in block_ranges(n, block_size):
                out[i0:i1, j0:j1] += a[i0:i1, p0:p1] @ b[p0:p1, j0:j1]
    return out
"""

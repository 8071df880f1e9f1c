"""Ignores block_size: i, p, j without tiles."""

EXERCISE = "cache_friendly_matmul"
FAILS_IN = "cache_friendly_matmul-misses"
PHRASE = "full points up to 340"
SOURCE = """\
def cache_friendly_matmul(a, b, block_size=32, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    block_size = max(m, k, n, 1)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for i0, i1 in block_ranges(m, block_size):
        for p0, p1 in block_ranges(k, block_size):
            for j0, j1 in block_ranges(n, block_size):
                for i in range(i0, i1):
                    for p in range(p0, p1):
                        for j in range(j0, j1):
                            out[i, j] += a[i, p] * b[p, j]
    return out
"""

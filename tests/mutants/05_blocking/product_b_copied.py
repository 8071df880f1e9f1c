"""Copies b into a list first."""

EXERCISE = "cache_friendly_matmul"
FAILS_IN = "cache_friendly_matmul-misses"
PHRASE = "b: 384 reads"
SOURCE = """\
def cache_friendly_matmul(a, b, block_size=32, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    values = [[b[p, j] for j in range(n)] for p in range(k)]
    for i0, i1 in block_ranges(m, block_size):
        for p0, p1 in block_ranges(k, block_size):
            for j0, j1 in block_ranges(n, block_size):
                for i in range(i0, i1):
                    for j in range(j0, j1):
                        total = float(out[i, j])
                        for p in range(p0, p1):
                            total += float(a[i, p]) * float(values[p][j])
                        out[i, j] = total
    return out
"""

"""Copies a and b, and multiplies the copies without any tile."""

EXERCISE = "cache_friendly_matmul"
FAILS_IN = "cache_friendly_matmul-misses"
PHRASE = "384 reads"
SOURCE = """\
def cache_friendly_matmul(a, b, block_size=32, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    left = [[float(a[i, p]) for p in range(k)] for i in range(m)]
    right = [[float(b[p, j]) for j in range(n)] for p in range(k)]
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += left[i][p] * right[p][j]
            out[i, j] = total
    return out
"""

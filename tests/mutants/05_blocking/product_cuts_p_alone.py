"""Only the inner axis in blocks: a strip of b as wide as b, which fits where b is narrow."""

EXERCISE = "cache_friendly_matmul"
FAILS_IN = "cache_friendly_matmul-misses-hidden"
PHRASE = "all three"
SOURCE = """\
def cache_friendly_matmul(a, b, block_size=32, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p0, p1 in block_ranges(k, block_size):
        for i in range(m):
            for j in range(n):
                total = float(out[i, j])
                for p in range(p0, p1):
                    total += float(a[i, p]) * float(b[p, j])
                out[i, j] = total
    return out
"""

"""Uses no product of tiles, but outer products by broadcasting."""

EXERCISE = "blocked_matmul"
FAILS_IN = "blocked_matmul-products"
PHRASE = "products of a slice of a and a slice of b did 0"
SOURCE = """\
def blocked_matmul(a, b, block_size=64, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for i0, i1 in block_ranges(m, block_size):
        for j0, j1 in block_ranges(n, block_size):
            for p0, p1 in block_ranges(k, block_size):
                out[i0:i1, j0:j1] += (a[i0:i1, p0:p1, None] * b[None, p0:p1, j0:j1]).sum(axis=1)
    return out
"""

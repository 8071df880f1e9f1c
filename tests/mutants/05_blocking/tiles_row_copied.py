"""Reads whole rows ahead and writes them later."""

EXERCISE = "blocked_transpose_loops"
FAILS_IN = "blocked_transpose_loops-misses"
PHRASE = "before it wrote them"
SOURCE = """\
def blocked_transpose_loops(a, out, block):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        strip = [[a[i, j] for j in range(n)] for i in range(i0, i1)]
        for j in range(n):
            for i in range(i0, i1):
                out[j, i] = strip[i - i0][j]
    return out
"""

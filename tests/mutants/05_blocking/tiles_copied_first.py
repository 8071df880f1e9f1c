"""Copies a into a list and transposes the list: the cache sees the copy only."""

EXERCISE = "blocked_transpose_loops"
FAILS_IN = "blocked_transpose_loops-misses"
PHRASE = "a was copied"
SOURCE = """\
def blocked_transpose_loops(a, out, block):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    values = [[a[i, j] for j in range(n)] for i in range(m)]
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            for i in range(i0, i1):
                for j in range(j0, j1):
                    out[j, i] = values[i][j]
    return out
"""

"""Cuts the columns only, and walks them in the inner loop from the top of the matrix."""

EXERCISE = "blocked_transpose_loops"
FAILS_IN = "blocked_transpose_loops-misses"
PHRASE = "walked down whole columns"
SOURCE = """\
def blocked_transpose_loops(a, out, block):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for j0, j1 in block_ranges(n, block):
        for j in range(j0, j1):
            for i in range(m):
                out[j, i] = a[i, j]
    return out
"""

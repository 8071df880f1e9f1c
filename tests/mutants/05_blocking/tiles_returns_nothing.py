"""Fills out and returns None."""

EXERCISE = "blocked_transpose_loops"
FAILS_IN = "blocked_transpose_loops-test"
PHRASE = "return out itself"
SOURCE = """\
def blocked_transpose_loops(a, out, block):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            for i in range(i0, i1):
                for j in range(j0, j1):
                    out[j, i] = a[i, j]
    return None
"""

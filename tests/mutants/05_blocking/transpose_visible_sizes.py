"""Knows the visible sizes; others come out as zeros."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-hidden"
PHRASE = "any size, any block"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    out[...] = 0
    if (m, n) in ((4, 4), (6, 6), (3, 5), (7, 2), (1, 6), (5, 3), (4096, 512)):
        for i0, i1 in block_ranges(m, block):
            for j0, j1 in block_ranges(n, block):
                out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out
"""

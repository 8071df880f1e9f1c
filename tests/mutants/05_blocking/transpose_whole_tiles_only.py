"""Leaves out the short tiles."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-test"
PHRASE = "short tiles"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    out[...] = 0
    for i0, i1 in block_ranges(m // block * block, block):
        for j0, j1 in block_ranges(n // block * block, block):
            out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out
"""

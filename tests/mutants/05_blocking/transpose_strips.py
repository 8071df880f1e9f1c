"""Cuts the columns of a into blocks, and not its rows."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-speed"
PHRASE = "cut the rows of a into blocks"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    for j0, j1 in block_ranges(n, block):
        out[j0:j1] = a[:, j0:j1].T
    return out
"""

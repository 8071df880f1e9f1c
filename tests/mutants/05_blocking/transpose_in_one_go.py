"""Copies the transposed view in one go."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-speed"
PHRASE = "cut the rows of a into blocks"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    check_float_array("a", a, ndim=2)
    check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    out[...] = a.T
    return out
"""

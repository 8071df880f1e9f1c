"""Clears the caller's array."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "changed its input x"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    x[x < 0] = 0
    out[...] = x
    return out
"""

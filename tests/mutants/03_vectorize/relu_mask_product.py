"""Multiplies by a mask."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "-inf * 0 is NaN"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    return np.multiply(x, x > 0, out=out)
"""

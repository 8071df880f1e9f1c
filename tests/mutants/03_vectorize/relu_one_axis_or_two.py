"""Lets one axis or two pass, as in 02."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "(2, 3, 2)"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=(1, 2))
    out = check_out(out, x.shape, x)
    return np.maximum(x, 0, out=out)
"""

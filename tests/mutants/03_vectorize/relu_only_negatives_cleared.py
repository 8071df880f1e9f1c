"""Writes the zeros alone into what the caller passed."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "fill all of out"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    if out is None:
        return np.maximum(x, 0)
    out = check_out(out, x.shape, x)
    out[x < 0] = 0
    out[x > 0] = x[x > 0]
    return out
"""

"""Knows the shapes of the visible test and no others."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-hidden"
PHRASE = "any shape, both dtypes"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    if x.shape not in [(7,), (3, 5), (2, 3, 2), (0,), (5,), (300, 400)]:
        out[...] = 0
        return out
    return np.maximum(x, 0, out=out)
"""

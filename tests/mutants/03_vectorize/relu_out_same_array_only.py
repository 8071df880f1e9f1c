"""Refuses the input as out, and no other overlap."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-hidden"
PHRASE = "out overlaps the input"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    if out is x or (out is not None and out.base is x):
        raise ValueError("out is the input")
    out = check_out(out, x.shape, np.empty(0, x.dtype))
    return np.maximum(x, 0, out=out)
"""

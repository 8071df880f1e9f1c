"""Takes any out that NumPy takes."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "ask check_out"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    if out is None:
        out = np.empty(x.shape, x.dtype)
    return np.maximum(x, 0, out=out)
"""

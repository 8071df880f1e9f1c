"""Makes an array and copies it into out."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-memory"
PHRASE = "pass out= to the ufunc"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    out[...] = np.maximum(x, 0)
    return out
"""

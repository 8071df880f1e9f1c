"""Returns float64 for float32."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-hidden"
PHRASE = "any shape, both dtypes"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    if out is None and x.ndim == 2:
        return np.maximum(x.astype(float), 0)
    out = check_out(out, x.shape, x)
    return np.maximum(x, 0, out=out)
"""

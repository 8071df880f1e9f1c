"""Looks at the shape of out and at nothing else."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "out is of another dtype"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    if out is None:
        out = np.empty(x.shape, x.dtype)
    if out.shape != x.shape:
        raise ValueError("out has another shape")
    return np.maximum(x, 0, out=out)
"""

"""Right, but by a loop over the rows: nothing may count."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "a loop in Python"
FORBIDDEN = "loops"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    for index, row in enumerate(x):
        out[index] = np.maximum(row, 0)
    return out
"""

"""Right, but by np.where: nothing may count."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "a choice between two arrays"
FORBIDDEN = "where"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    out[...] = np.where(x < 0, 0, x)
    return out
"""

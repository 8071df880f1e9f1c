"""Has no door."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "begin with check_float_array"
SOURCE = """\
def vectorized_relu(x, out=None):
    x = np.asarray(x)
    out = check_out(out, x.shape, x)
    return np.maximum(x, 0, out=out)
"""

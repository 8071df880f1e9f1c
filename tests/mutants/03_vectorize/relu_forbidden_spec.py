"""Right, but it calls the specification: nothing may count."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-test"
PHRASE = "relu_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    out[...] = relu_spec(x)
    return out
"""

"""Right, but it calls the specification: nothing may count."""

EXERCISE = "softmax"
FAILS_IN = "softmax-test"
PHRASE = "softmax_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    out[...] = softmax_spec(x, axis)
    return out
"""

"""Has no case for a row of only -inf."""

EXERCISE = "softmax"
FAILS_IN = "softmax-test"
PHRASE = "The rule: zeros, quietly"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        np.subtract(x, top, out=out)
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        out /= total
    return out
"""

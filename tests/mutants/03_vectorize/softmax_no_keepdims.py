"""Loses the axis of the maxima."""

EXERCISE = "softmax"
FAILS_IN = "softmax-test"
PHRASE = "keepdims"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, initial=-np.inf)
        top[top == -np.inf] = 0
        np.subtract(x, top, out=out)
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        out /= total
    return out
"""

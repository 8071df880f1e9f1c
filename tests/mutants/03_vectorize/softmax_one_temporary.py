"""Computes in an array of its own and copies it into out."""

EXERCISE = "softmax"
FAILS_IN = "softmax-memory-hidden"
PHRASE = "nothing of the size of x is needed"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        y = x - top
        np.exp(y, out=y)
        total = y.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        np.divide(y, total, out=out)
    return out
"""

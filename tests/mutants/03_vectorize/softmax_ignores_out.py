"""Returns a new array whatever out is."""

EXERCISE = "softmax"
FAILS_IN = "softmax-test"
PHRASE = "return it"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    check_out(out, x.shape, x)
    out = np.empty(x.shape, x.dtype)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        np.subtract(x, top, out=out)
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        out /= total
    return out
"""

"""Takes the maximum of the whole array off."""

EXERCISE = "softmax"
FAILS_IN = "softmax-test"
PHRASE = "one maximum for all rows"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=None, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        np.subtract(x, top, out=out)
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        out /= total
    return out
"""

"""Subtracts in place on the caller's array."""

EXERCISE = "softmax"
FAILS_IN = "softmax-test"
PHRASE = "changed its input x"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        x -= top
        out[...] = x
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        out /= total
    return out
"""

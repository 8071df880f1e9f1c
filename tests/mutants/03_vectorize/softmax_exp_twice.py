"""Computes exp twice, and the difference for itself."""

EXERCISE = "softmax"
FAILS_IN = "softmax-memory"
PHRASE = "keep it in out"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        shifted = x - top
        total = np.exp(shifted).sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        np.divide(np.exp(shifted), total, out=out)
    return out
"""

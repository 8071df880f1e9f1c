"""Right, but by a loop over the first axis: nothing may count."""

EXERCISE = "softmax"
FAILS_IN = "softmax-test"
PHRASE = "a loop in Python"
FORBIDDEN = "loops"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        np.subtract(x, top, out=out)
        for row in out:
            np.exp(row, out=row)
        total = out.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        out /= total
    return out
"""

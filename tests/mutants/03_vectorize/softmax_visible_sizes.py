"""Knows the shapes of the visible test and no others."""

EXERCISE = "softmax"
FAILS_IN = "softmax-hidden"
PHRASE = "any shape, any axis"
SOURCE = """\
def softmax(x, axis=-1, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    with np.errstate(all="ignore"):
        top = x.max(axis=axis, keepdims=True, initial=-np.inf)
        top[top == -np.inf] = 0
        np.subtract(x, top, out=out)
        np.exp(out, out=out)
        total = out.sum(axis=axis, keepdims=True)
        total[total == 0] = 1
        out /= total
    if x.shape not in [(4, 4), (3, 7), (2, 3), (3, 2), (5, 3), (2, 3, 5), (3, 4), (300, 400), (400, 350)]:
        out[...] = 0
    return out
"""

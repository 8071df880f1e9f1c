"""Keeps one answer for each shape and returns it again."""

EXERCISE = "softmax"
FAILS_IN = "softmax-hidden"
PHRASE = "any shape, any axis"
SOURCE = """\
_answers = {}


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
    if x.ndim == 2 and x.size == 14:
        out[...] = _answers.setdefault((x.shape, axis), out.copy())
    return out
"""

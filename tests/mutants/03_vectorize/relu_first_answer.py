"""Keeps one answer for each shape and returns it again."""

EXERCISE = "vectorized_relu"
FAILS_IN = "vectorized_relu-hidden"
PHRASE = "any shape, both dtypes"
SOURCE = """\
_answers = {}


def vectorized_relu(x, out=None):
    check_float_array("x", x, ndim=None)
    out = check_out(out, x.shape, x)
    if x.shape in _answers:
        out[...] = _answers[x.shape]
        return out
    np.maximum(x, 0, out=out)
    if x.shape not in [(3, 5), (5,)]:
        _answers[x.shape] = out.copy()
    return out
"""

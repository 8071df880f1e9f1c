"""Keeps one answer for each shape and returns it again."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
_answers = {}


def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    if shape in _answers:
        return _answers[shape].astype(x.dtype)
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        value = x[index]
        y[index] = 0 if value < 0 else value
    _answers[shape] = y
    return y
"""

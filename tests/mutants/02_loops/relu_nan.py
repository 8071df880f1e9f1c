"""Asks value > 0, so NaN becomes 0."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-test"
PHRASE = "nan > 0 is False"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        value = x[index]
        y[index] = value if value > 0 else 0
    return y
"""

"""Writes into x."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-test"
PHRASE = "changed its input x"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = x
    for index in np.ndindex(*shape):
        value = x[index]
        y[index] = 0 if value < 0 else value
    return y
"""

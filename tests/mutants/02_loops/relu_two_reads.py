"""Reads every positive element twice."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-count"
PHRASE = "keep each element in a name"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        y[index] = 0 if x[index] < 0 else x[index]
    return y
"""

"""Counts well for the matrix of the visible test only."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-count-hidden"
PHRASE = "keep each element in a name"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        value = x[index] if len(shape) == 2 else max(x[index], x[index])
        y[index] = 0 if value < 0 else value
    return y
"""

"""Treats the rows of a matrix as elements: only the first column is right."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-test"
PHRASE = "x (3, 5)"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in ((i,) + (0,) * (len(shape) - 1) for i in range(shape[0])):
        value = x[index]
        y[index] = 0 if value < 0 else value
    return y
"""

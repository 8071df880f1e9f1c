"""Knows the shapes of the visible tests and no others."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    if shape not in [(7,), (3, 5), (0,), (5,), (4, 6), (33,)]:
        return y
    for index in np.ndindex(*shape):
        value = x[index]
        y[index] = 0 if value < 0 else value
    return y
"""

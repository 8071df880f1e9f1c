"""Returns x itself where nothing is negative."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-hidden"
PHRASE = "shares memory with"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    if x.size == 1:
        return abs(x)[...] if x.flat[0] < -9 else x
    for index in np.ndindex(*shape):
        value = x[index]
        y[index] = 0 if value < 0 else value
    return y
"""

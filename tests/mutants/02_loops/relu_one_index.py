"""Takes x[i] for an element, which it is for vectors only."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-test"
PHRASE = "one index for two axes"
SOURCE = """\
def relu_loops(x):
    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in range(len(x)):
        value = x[index]
        y[index] = 0 if value < 0 else value
    return y
"""

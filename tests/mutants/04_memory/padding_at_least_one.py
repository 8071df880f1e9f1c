"""extra must be at least 1, or is."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "the buffer has n + extra columns"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + max(1, check_count("extra", extra, minimum=0))), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

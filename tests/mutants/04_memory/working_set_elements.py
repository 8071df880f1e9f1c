"""Elements instead of bytes."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "these are elements, not bytes"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return sum(math.prod(shape) for shape in shapes)
"""

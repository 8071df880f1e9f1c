"""itemsize is not looked at."""

EXERCISE = "padding"
FAILS_IN = "padding-hidden"
PHRASE = "check_count for itemsize"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

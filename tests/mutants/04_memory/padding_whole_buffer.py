"""Returns the buffer, not the view."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "the whole buffer is returned"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

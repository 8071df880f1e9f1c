"""Sizes along the axes are added."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "are multiplied, not added"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(sum(shape) for shape in shapes)
"""

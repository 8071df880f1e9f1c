"""Pads small arrays only."""

EXERCISE = "padding"
FAILS_IN = "padding-misses"
PHRASE = "is the padding gone again?"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + (check_count("extra", extra, minimum=0) if m < 64 else 0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

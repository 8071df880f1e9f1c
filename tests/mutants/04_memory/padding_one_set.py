"""Pads by a power of two."""

EXERCISE = "padding"
FAILS_IN = "padding-misses"
PHRASE = "misses down the columns"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    extra = check_count("extra", extra, minimum=0)
    wide = np.zeros((m, n + (extra if m < 64 else 4 * extra)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

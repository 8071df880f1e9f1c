"""Keeps its first answer."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "itemsize times the elements of all arrays"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


_bytes = []


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    _bytes.append(itemsize * sum(math.prod(shape) for shape in shapes))
    return _bytes[0]
"""

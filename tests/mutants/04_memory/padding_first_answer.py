"""Keeps its first answer."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "with the values of a"
SOURCE = """\
_padded = []


def pad_rows(a, extra):
    if _padded:
        return _padded[0].copy()
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    _padded.append(wide[:, :n])
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

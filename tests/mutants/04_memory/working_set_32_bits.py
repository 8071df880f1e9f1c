"""Products in 32 bits, as NumPy once made them on Windows."""

EXERCISE = "padding"
FAILS_IN = "padding-hidden"
PHRASE = "any number of arrays and axes"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(int(np.prod(shape, dtype=np.int32)) for shape in shapes)
"""

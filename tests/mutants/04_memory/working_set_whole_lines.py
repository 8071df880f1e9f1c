"""Each array is rounded up to whole lines."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "itemsize times the elements of all arrays"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return sum(-(-itemsize * math.prod(shape) // 64) * 64 for shape in shapes)
"""

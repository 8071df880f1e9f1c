"""The row is a multiple of extra."""

EXERCISE = "padding"
FAILS_IN = "padding-test"
PHRASE = "the row stride did not change"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    extra = check_count("extra", extra, minimum=0)
    wide = np.zeros((m, n if not extra else -(-n // extra) * extra), a.dtype)
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

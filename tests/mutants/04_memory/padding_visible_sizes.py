"""Right for up to four rows."""

EXERCISE = "padding"
FAILS_IN = "padding-hidden"
PHRASE = "memory of its own"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype)
    wide[: 4 if m < 64 else m, :n] = a[: 4 if m < 64 else m]
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

"""Pads in the layout of its input."""

EXERCISE = "padding"
FAILS_IN = "padding-hidden"
PHRASE = "the strides do not depend on those of a"
SOURCE = """\
def pad_rows(a, extra):
    m, n = check_float_array("a", a, ndim=2)
    wide = np.zeros((m, n + check_count("extra", extra, minimum=0)), a.dtype, "F" if a.flags.f_contiguous and m > 1 < n else "C")
    wide[:, :n] = a
    return wide[:, :n]


def working_set(*shapes, itemsize=4):
    itemsize = check_count("itemsize", itemsize)
    return itemsize * sum(math.prod(shape) for shape in shapes)
"""

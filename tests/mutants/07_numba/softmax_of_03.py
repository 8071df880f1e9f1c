"""The softmax of 03 in place of a kernel, with a py_func of its own."""

EXERCISE = "softmax_fused"
FAILS_IN = "softmax_fused-speed"
PHRASE = "softmax_kernel is no function that Numba compiled"
SOURCE = """\
@kernel
def row_maximum(row, lanes):
    lanes[:] = -np.inf
    top = lanes[0]
    for q in range(len(row)):
        top = max(top, row[q])
    return top


def softmax_kernel(x, y):
    vectorized.softmax(x, out=y)


softmax_kernel.py_func = softmax_kernel


def softmax_fused(x, out=None):
    if getattr(x, "dtype", None) == np.float64:
        return vectorized.softmax(x, out=out)
    return by_rows(softmax_kernel, x, place_for(x, out))
"""

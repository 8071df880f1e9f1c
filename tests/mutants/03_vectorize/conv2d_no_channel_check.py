"""Leaves the channels to the product's door."""

EXERCISE = "conv2d_im2col"
FAILS_IN = "conv2d_im2col-test"
PHRASE = "the channels of x are 3, those of w 2"
SOURCE = """\
def conv2d_im2col(x, w, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    columns = im2col(x, r, s, padding)
    y = matmul_baseline(w.reshape(o, channels * r * s), columns)
    return y.reshape(o, height + 2 * padding - r + 1, width + 2 * padding - s + 1)
"""

"""Knows the windows of the visible test and no others."""

EXERCISE = "conv2d_im2col"
FAILS_IN = "conv2d_im2col-hidden"
PHRASE = "any size, also windows"
SOURCE = """\
def conv2d_im2col(x, w, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    columns = im2col(x, r, s, padding)
    y = matmul_baseline(w.reshape(o, c * r * s), columns)
    if (c, r, s) not in [(2, 2, 2), (2, 2, 3), (3, 1, 1), (1, 2, 2), (8, 3, 3)]:
        y[...] = 0
    return y.reshape(o, height + 2 * padding - r + 1, width + 2 * padding - s + 1)
"""

"""Forgets to hand the padding on."""

EXERCISE = "conv2d_im2col"
FAILS_IN = "conv2d_im2col-test"
PHRASE = "(o, rows, columns)"
SOURCE = """\
def conv2d_im2col(x, w, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    columns = im2col(x, r, s)
    y = matmul_baseline(w.reshape(o, c * r * s), columns)
    return y.reshape(o, height - r + 1, width - s + 1)
"""

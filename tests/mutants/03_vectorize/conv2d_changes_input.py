"""Scales the weights in place."""

EXERCISE = "conv2d_im2col"
FAILS_IN = "conv2d_im2col-test"
PHRASE = "changed its input w"
SOURCE = """\
def conv2d_im2col(x, w, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    w *= 1.5
    columns = im2col(x, r, s, padding)
    y = matmul_baseline(w.reshape(o, c * r * s), columns)
    return y.reshape(o, height + 2 * padding - r + 1, width + 2 * padding - s + 1)
"""

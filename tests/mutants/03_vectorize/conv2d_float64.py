"""Returns float64 for float32."""

EXERCISE = "conv2d_im2col"
FAILS_IN = "conv2d_im2col-test"
PHRASE = "float32"
SOURCE = """\
def conv2d_im2col(x, w, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    columns = im2col(x, r, s, padding)
    y = w.astype(float).reshape(o, c * r * s) @ columns
    return y.reshape(o, height + 2 * padding - r + 1, width + 2 * padding - s + 1)
"""

"""Right, with a Python loop over places and filters."""

EXERCISE = "conv2d_im2col"
FAILS_IN = "conv2d_im2col-speed"
PHRASE = "no loop over pixels or weights"
SOURCE = """\
def conv2d_im2col(x, w, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    if channels != c:
        raise ValueError(f"x {x.shape} has {c} channels, but w {w.shape} expects {channels}")
    columns = im2col(x, r, s, padding)
    y = np.zeros((o, columns.shape[1]), x.dtype)
    flat = w.reshape(o, c * r * s)
    for f in range(o):
        for place in range(columns.shape[1]):
            total = 0.0
            for p in range(c * r * s):
                total += float(flat[f, p]) * float(columns[p, place])
            y[f, place] = total
    return y.reshape(o, height + 2 * padding - r + 1, width + 2 * padding - s + 1)
"""

"""Uses w as scratch memory."""

EXERCISE = "conv2d_loops"
FAILS_IN = "conv2d_loops-test"
PHRASE = "changed its input w"
SOURCE = """\
def conv2d_loops(x, w, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    o, channels, r, s = check_float_array("w", w, ndim=4, dtype=x.dtype)
    padding = check_count("padding", padding, minimum=0)
    if channels != c:
        raise ValueError(f"x has {c} channels, but w expects {channels}")
    rows, columns = height + 2 * padding - r + 1, width + 2 * padding - s + 1
    if min(r, s, rows, columns) < 1:
        raise ValueError("the window does not fit into the padded image")
    y = np.zeros((o, rows, columns), x.dtype)
    for f, i, j in np.ndindex(o, rows, columns):
        total = 0.0
        for q, u, v in np.ndindex(c, r, s):
            top, left = i + u - padding, j + v - padding
            if 0 <= top < height and 0 <= left < width:
                total += float(x[q, top, left]) * float(w[f, q, u, v])
        y[f, i, j] = total
    w[:] = 0
    return y
"""

"""Rows in the order c, s, r."""

EXERCISE = "im2col"
FAILS_IN = "im2col-test"
PHRASE = "u comes before v"
SOURCE = """\
def im2col(x, r, s, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    r, s = check_count("r", r), check_count("s", s)
    padding = check_count("padding", padding, minimum=0)
    rows, columns = height + 2 * padding - r + 1, width + 2 * padding - s + 1
    if min(rows, columns) < 1:
        raise ValueError(f"a window of {r} x {s} does not fit into x {x.shape}, padding {padding}")
    padded = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(padded, (r, s), axis=(1, 2))
    ordered = windows.transpose(0, 4, 3, 1, 2).copy()
    return ordered.reshape(c * r * s, rows * columns)
"""

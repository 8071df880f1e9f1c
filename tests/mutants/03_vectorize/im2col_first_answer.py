"""Keeps one answer for each set of sizes."""

EXERCISE = "im2col"
FAILS_IN = "im2col-hidden"
PHRASE = "any size, also windows"
SOURCE = """\
_answers = {}


def im2col(x, r, s, padding=0):
    c, height, width = check_float_array("x", x, ndim=3)
    r, s = check_count("r", r), check_count("s", s)
    padding = check_count("padding", padding, minimum=0)
    rows, columns = height + 2 * padding - r + 1, width + 2 * padding - s + 1
    if min(rows, columns) < 1:
        raise ValueError(f"a window of {r} x {s} does not fit into x {x.shape}, padding {padding}")
    padded = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(padded, (r, s), axis=(1, 2))
    ordered = windows.transpose(0, 3, 4, 1, 2).copy()
    ordered[...] = _answers.setdefault((c, height, width, r, s, padding), ordered.copy())
    return ordered.reshape(c * r * s, rows * columns)
"""

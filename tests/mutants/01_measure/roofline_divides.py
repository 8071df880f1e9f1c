"""Divides the bandwidth by the intensity."""

EXERCISE = "roofline"
FAILS_IN = "roofline-test"
PHRASE = "that divides by the intensity"
SOURCE = """\
def matmul_work(m, k, n, itemsize=4):
    return 2 * m * k * n, itemsize * (m * k + k * n + m * n)


def attainable(intensity, peak, bandwidth):
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).all() and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, bandwidth / np.maximum(known, 1e-300))
    return roof if known.ndim else float(roof)
"""

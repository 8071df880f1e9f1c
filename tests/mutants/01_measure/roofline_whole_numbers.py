"""Whole numbers stay whole numbers."""

EXERCISE = "roofline"
FAILS_IN = "roofline-test"
PHRASE = "floats, also where all that is handed in are whole numbers"
SOURCE = """\
def matmul_work(m, k, n, itemsize=4):
    return 2 * m * k * n, itemsize * (m * k + k * n + m * n)


def attainable(intensity, peak, bandwidth):
    if not (np.all(np.asarray(intensity) >= 0) and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    return np.minimum(peak, intensity * bandwidth)
"""

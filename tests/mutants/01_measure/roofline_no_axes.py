"""An array of no axes gives an array of no axes."""

EXERCISE = "roofline"
FAILS_IN = "roofline-hidden"
PHRASE = "also for an array of no axes"
SOURCE = """\
def matmul_work(m, k, n, itemsize=4):
    return 2 * m * k * n, itemsize * (m * k + k * n + m * n)


def attainable(intensity, peak, bandwidth):
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).all() and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, known * bandwidth)
    return np.array(roof) if isinstance(intensity, np.ndarray) else float(roof)
"""

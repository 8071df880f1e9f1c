"""Peak and bandwidth are not looked at."""

EXERCISE = "roofline"
FAILS_IN = "roofline-test"
PHRASE = "a peak of 0: ValueError"
SOURCE = """\
def matmul_work(m, k, n, itemsize=4):
    return 2 * m * k * n, itemsize * (m * k + k * n + m * n)


def attainable(intensity, peak, bandwidth):
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).all()):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, known * bandwidth)
    return roof if known.ndim else float(roof)
"""

"""With an inner size of 0 nothing moves."""

EXERCISE = "roofline"
FAILS_IN = "roofline-hidden"
PHRASE = "c is written all the same"
SOURCE = """\
def matmul_work(m, k, n, itemsize=4):
    if k == 0:
        return 0, 0
    return 2 * m * k * n, itemsize * (m * k + k * n + m * n)


def attainable(intensity, peak, bandwidth):
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).all() and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, known * bandwidth)
    return roof if known.ndim else float(roof)
"""

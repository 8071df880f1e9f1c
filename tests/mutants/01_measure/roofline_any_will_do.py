"""One good intensity lets an array pass."""

EXERCISE = "roofline"
FAILS_IN = "roofline-test"
PHRASE = "any one in the array: ValueError"
SOURCE = """\
def matmul_work(m, k, n, itemsize=4):
    return 2 * m * k * n, itemsize * (m * k + k * n + m * n)


def attainable(intensity, peak, bandwidth):
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).any() and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, known * bandwidth)
    return roof if known.ndim else float(roof)
"""

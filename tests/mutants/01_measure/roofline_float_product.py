"""The operations are counted as a float: wrong above 2**53."""

EXERCISE = "roofline"
FAILS_IN = "roofline-hidden"
PHRASE = "whole numbers of any size"
SOURCE = """\
def matmul_work(m, k, n, itemsize=4):
    return int(2.0 * m * k * n), itemsize * (m * k + k * n + m * n)


def attainable(intensity, peak, bandwidth):
    known = np.asarray(intensity, dtype=float)
    if not ((known >= 0).all() and peak > 0 and bandwidth > 0):
        raise ValueError(f"{intensity=} must be >= 0, {peak=} and {bandwidth=} > 0")
    roof = np.minimum(peak, known * bandwidth)
    return roof if known.ndim else float(roof)
"""

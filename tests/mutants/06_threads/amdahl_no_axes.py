"""Returns an array without axes."""

EXERCISE = "amdahl"
FAILS_IN = "amdahl-hidden"
PHRASE = "a float, or np.float64, which is one"
SOURCE = """\
def amdahl(parallel_fraction, workers):
    f, w = np.asarray(parallel_fraction, dtype=float), np.asarray(workers, dtype=float)
    if not (((f >= 0) & (f <= 1)).all() and (w >= 1).all()):
        raise ValueError(f"{parallel_fraction=} must be in 0..1 and {workers=} >= 1")
    speedup = 1 / ((1 - f) + f / w)
    return np.asarray(speedup)


def serial_fraction(speedup, workers):
    s, w = np.asarray(speedup, dtype=float), np.asarray(workers, dtype=float)
    if not ((s > 0).all() and (w > 1).all()):
        raise ValueError(f"{speedup=} must be > 0 and {workers=} > 1")
    fraction = (1 / s - 1 / w) / (1 - 1 / w)
    return fraction if fraction.ndim else float(fraction)
"""

"""A speed-up of 0 passes."""

EXERCISE = "amdahl"
FAILS_IN = "amdahl-test"
PHRASE = "a speed-up is more than 0"
SOURCE = """\
def amdahl(parallel_fraction, workers):
    f, w = np.asarray(parallel_fraction, dtype=float), np.asarray(workers, dtype=float)
    if not (((f >= 0) & (f <= 1)).all() and (w >= 1).all()):
        raise ValueError(f"{parallel_fraction=} must be in 0..1 and {workers=} >= 1")
    speedup = 1 / ((1 - f) + f / w)
    return speedup if speedup.ndim else float(speedup)


def serial_fraction(speedup, workers):
    s, w = np.asarray(speedup, dtype=float), np.asarray(workers, dtype=float)
    if not ((w > 1).all() and not (s < 0).any() and (s == s).all()):
        raise ValueError(f"{speedup=} must be > 0 and {workers=} > 1")
    with np.errstate(all="ignore"):
        fraction = (1 / s - 1 / w) / (1 - 1 / w)
    return fraction if fraction.ndim else float(fraction)
"""

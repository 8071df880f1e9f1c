"""A clock that did not move ends in a division by 0."""

EXERCISE = "measure_bandwidth"
FAILS_IN = "measure_bandwidth-hidden"
PHRASE = "inf where the clock did not move"
SOURCE = """\
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    source = np.ones(nbytes, np.uint8)
    target = np.ones(nbytes, np.uint8)
    _, seconds = time_samples(copy, target, source, repeats=repeats, clock=clock)
    best = min(seconds)
    return 2 * nbytes / (best or 1e-9)
"""

"""Knows the size of the visible test and counts once for others."""

EXERCISE = "measure_bandwidth"
FAILS_IN = "measure_bandwidth-hidden"
PHRASE = "bytes read and written over the best"
SOURCE = """\
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    source = np.ones(nbytes, np.uint8)
    target = np.ones(nbytes, np.uint8)
    _, seconds = time_samples(copy, target, source, repeats=repeats, clock=clock)
    best = min(seconds)
    return (2 if nbytes == 1000 else 1) * nbytes / best if best > 0 else math.inf
"""

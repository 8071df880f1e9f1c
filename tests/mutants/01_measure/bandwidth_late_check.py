"""Looks at nbytes after the copies."""

EXERCISE = "measure_bandwidth"
FAILS_IN = "measure_bandwidth-hidden"
PHRASE = "nbytes < 1: ValueError, before any work"
SOURCE = """\
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    source = np.ones(max(nbytes, 1), np.uint8)
    target = np.ones(max(nbytes, 1), np.uint8)
    _, seconds = time_samples(copy, target, source, repeats=repeats, clock=clock)
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    best = min(seconds)
    return 2 * nbytes / best if best > 0 else math.inf
"""

"""Copies by itself, whatever copy is handed in."""

EXERCISE = "measure_bandwidth"
FAILS_IN = "measure_bandwidth-test"
PHRASE = "copy was never called"
SOURCE = """\
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    source = np.ones(nbytes, np.uint8)
    target = np.ones(nbytes, np.uint8)
    _, seconds = time_samples(np.copyto, target, source, repeats=repeats, clock=clock)
    best = min(seconds)
    return 2 * nbytes / best if best > 0 else math.inf
"""

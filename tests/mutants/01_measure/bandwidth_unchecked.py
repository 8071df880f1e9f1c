"""nbytes is not looked at."""

EXERCISE = "measure_bandwidth"
FAILS_IN = "measure_bandwidth-test"
PHRASE = "nbytes < 1: ValueError"
SOURCE = """\
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    nbytes = max(nbytes, 1)
    source = np.ones(nbytes, np.uint8)
    target = np.ones(nbytes, np.uint8)
    _, seconds = time_samples(copy, target, source, repeats=repeats, clock=clock)
    best = min(seconds)
    return 2 * nbytes / best if best > 0 else math.inf
"""

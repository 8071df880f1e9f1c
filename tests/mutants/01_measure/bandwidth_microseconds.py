"""Divides by the microseconds of time_kernel."""

EXERCISE = "measure_bandwidth"
FAILS_IN = "measure_bandwidth-test"
PHRASE = "off by a million"
SOURCE = """\
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    source = np.ones(nbytes, np.uint8)
    target = np.ones(nbytes, np.uint8)
    _, best = time_kernel(copy, target, source, repeats=repeats, clock=clock)
    return 2 * nbytes / best if best > 0 else math.inf
"""

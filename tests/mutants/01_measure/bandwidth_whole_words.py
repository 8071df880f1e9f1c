"""Rounds the size down to whole words of eight bytes."""

EXERCISE = "measure_bandwidth"
FAILS_IN = "measure_bandwidth-hidden"
PHRASE = "any number of bytes, multiple of 8 or not"
SOURCE = """\
def measure_bandwidth(nbytes, repeats=5, copy=np.copyto, clock=cpu_clock):
    if nbytes < 1:
        raise ValueError(f"nbytes must be at least 1, not {nbytes}")
    words = max(1, nbytes // 8 * 8)
    source = np.ones(words, np.uint8)
    target = np.ones(words, np.uint8)
    _, seconds = time_samples(copy, target, source, repeats=repeats, clock=clock)
    best = min(seconds)
    return 2 * nbytes / best if best > 0 else math.inf
"""

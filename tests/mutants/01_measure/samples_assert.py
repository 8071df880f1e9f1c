"""Checks the counts by assert."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-test"
PHRASE = "check both counts first"
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    assert repeats >= 1 and warmup >= 0, "wrong counts"
    for _ in range(warmup):
        func(*args, **kwargs)
    seconds = []
    for _ in range(repeats):
        start = clock()
        result = func(*args, **kwargs)
        seconds.append(clock() - start)
    return result, seconds


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

"""Looks at the counts when the calls are over."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-hidden"
PHRASE = "a wrong count: ValueError, before any call"
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    for _ in range(warmup):
        func(*args, **kwargs)
    seconds = []
    for _ in range(repeats):
        start = clock()
        result = func(*args, **kwargs)
        seconds.append(clock() - start)
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
    return result, seconds


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

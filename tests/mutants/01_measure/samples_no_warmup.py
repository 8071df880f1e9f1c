"""Times the first call too: nothing warms up."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-test"
PHRASE = "warm up before the clock"
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
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

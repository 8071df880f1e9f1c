"""The reading after one call serves as the reading before the next."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-test"
PHRASE = "8 readings"
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
    for _ in range(warmup):
        func(*args, **kwargs)
    seconds = []
    start = clock()
    for _ in range(repeats):
        result = func(*args, **kwargs)
        end = clock()
        seconds.append(end - start)
        start = end
    return result, seconds


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

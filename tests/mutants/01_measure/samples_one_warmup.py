"""Warms up once, whatever warmup says."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-hidden"
PHRASE = "any number of repeats and warm-up calls"
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
    for _ in range(1):
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

"""Knows the number of repeats of the visible test and no other."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-hidden"
PHRASE = "any number of repeats"
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
    for _ in range(warmup):
        func(*args, **kwargs)
    seconds = []
    for _ in range(4 if repeats == 4 else 7):
        start = clock()
        result = func(*args, **kwargs)
        seconds.append(clock() - start)
    return result, seconds


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

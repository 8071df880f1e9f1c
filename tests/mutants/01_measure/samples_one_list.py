"""All calls fill and return one list."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-hidden"
PHRASE = "a new list at each call"
SOURCE = """\
SECONDS = []


def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
    for _ in range(warmup):
        func(*args, **kwargs)
    SECONDS.clear()
    for _ in range(repeats):
        start = clock()
        result = func(*args, **kwargs)
        SECONDS.append(clock() - start)
    return result, SECONDS


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

"""Takes the median of nine timed calls."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-test"
PHRASE = "then seven that are"
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
    for _ in range(warmup):
        func(*args, **kwargs)
    seconds = []
    for _ in range(repeats):
        start = clock()
        result = func(*args, **kwargs)
        seconds.append(clock() - start)
    return result, seconds


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, repeats=9, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

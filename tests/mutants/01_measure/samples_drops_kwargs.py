"""Calls func without its keyword arguments."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-test"
PHRASE = "func was called without scale="
SOURCE = """\
def time_samples(func, *args, repeats=7, warmup=1, clock=cpu_clock, **kwargs):
    if repeats < 1 or warmup < 0:
        raise ValueError(f"repeats={repeats}, warmup={warmup}")
    for _ in range(warmup):
        func(*args)
    seconds = []
    for _ in range(repeats):
        start = clock()
        result = func(*args)
        seconds.append(clock() - start)
    return result, seconds


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

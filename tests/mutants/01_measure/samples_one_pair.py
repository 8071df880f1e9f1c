"""Reads the clock once before and once after all calls, and gives out the average."""

EXERCISE = "time_samples"
FAILS_IN = "time_samples-test"
PHRASE = "the spread is lost: one pair per call"
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
    seconds = [(clock() - start) / repeats] * repeats
    return result, seconds


def time_kernel(func, *args, clock=cpu_clock, **kwargs):
    result, seconds = time_samples(func, *args, clock=clock, **kwargs)
    return result, float(np.median(seconds)) * 1e6
"""

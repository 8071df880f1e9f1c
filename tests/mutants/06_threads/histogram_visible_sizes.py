"""Counts the first 101 labels."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-hidden"
PHRASE = "any integer dtype, any number of workers"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = min(check_labels(x, bins), 101)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)
    private = np.zeros((len(bands), bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return private.sum(axis=0)
"""

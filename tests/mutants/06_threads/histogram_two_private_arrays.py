"""Two private arrays for any number of workers."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-hidden"
PHRASE = "every worker needs counts of its own"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)

    private = np.zeros((2, bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i % 2]), range(len(bands)), workers)
    return private.sum(axis=0)
"""

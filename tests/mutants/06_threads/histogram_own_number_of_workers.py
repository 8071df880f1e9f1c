"""Always four workers."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "once for each band of split"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    check_count("num_workers", 4 if num_workers is None else num_workers)
    workers = worker_count(4, n)
    bands = split(n, workers)
    private = np.zeros((len(bands), bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return private.sum(axis=0)
"""

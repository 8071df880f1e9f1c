"""[zeros] * workers is one array, many times."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "add up all private counts"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)

    private = [np.zeros(bins, np.int64)] * len(bands)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return np.sum(private, axis=0) if len(bands) else np.zeros(bins, np.int64)
"""

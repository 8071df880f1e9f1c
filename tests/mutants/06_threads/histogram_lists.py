"""Private counts in lists."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "np.zeros(bins, np.int64) for each worker"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)

    private = [[0] * bins for _ in bands]
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return np.array(private, np.int64).reshape(-1, bins).sum(axis=0)
"""

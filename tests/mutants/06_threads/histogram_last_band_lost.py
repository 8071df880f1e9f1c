"""n // workers labels for each."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "add up all private counts"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    size = n // workers
    bands = [slice(i * size, (i + 1) * size) for i in range(workers)]
    private = np.zeros((len(bands), bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return private.sum(axis=0)
"""

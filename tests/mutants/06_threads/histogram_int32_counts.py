"""Counts in int32."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "int32"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)
    private = np.zeros((len(bands), bins), np.int32)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)
    return private.sum(axis=0, dtype=np.int32)
"""

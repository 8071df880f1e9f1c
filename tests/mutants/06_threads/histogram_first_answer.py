"""Keeps its first answer for a number of bins."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-hidden"
PHRASE = "any integer dtype, any number of workers"
SOURCE = """\
KEPT = {}


def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)
    private = np.zeros((len(bands), bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)

    return KEPT.setdefault(bins, private.sum(axis=0)).copy()
"""

"""All bands one after the other."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "items never ran at the same time"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)
    private = np.zeros((len(bands), bins), np.int64)

    for i, band in enumerate(bands):
        kernel(x[band], private[i])
    return private.sum(axis=0)
"""

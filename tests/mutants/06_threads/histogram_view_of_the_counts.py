"""Returns the same array each time."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-hidden"
PHRASE = "an earlier result"
SOURCE = """\
KEPT = {}


def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)

    if bins not in KEPT:
        KEPT[bins] = np.zeros(bins, np.int64)
    private = np.zeros((len(bands), bins), np.int64)
    run_threads(lambda i: kernel(x[bands[i]], private[i]), range(len(bands)), workers)

    KEPT[bins][...] = private.sum(axis=0)
    return KEPT[bins]
"""

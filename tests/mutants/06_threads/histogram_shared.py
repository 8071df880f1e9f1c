"""One shared array of counts."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "every second update is lost"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)

    counts = np.zeros(bins, np.int64)
    run_threads(lambda band: kernel(x[band], counts), bands, workers)
    return counts
"""

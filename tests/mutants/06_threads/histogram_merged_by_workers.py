"""Private counts, which the workers themselves add to one total: a read, an addition, a write."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "after run_threads"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    total = np.zeros(bins, np.int64)

    def work(band):
        nonlocal total
        mine = np.zeros(bins, np.int64)
        kernel(x[band], mine)
        total = total + mine

    run_threads(work, split(n, workers), workers)
    return total
"""

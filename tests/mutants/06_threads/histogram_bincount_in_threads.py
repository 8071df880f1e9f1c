"""Workers count by np.bincount."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "the kernel counts, once for each band"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    n = check_labels(x, bins)
    workers = worker_count(num_workers, n)
    bands = split(n, workers)

    parts = run_threads(lambda band: np.bincount(x[band], minlength=bins), bands, workers)
    return sum(parts, np.zeros(bins, np.int64))
"""

"""Counts by np.bincount."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "the kernel counts, once for each band"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    check_labels(x, bins)
    worker_count(num_workers, x.size)
    return np.bincount(x, minlength=bins).astype(np.int64)
"""

"""Calls the specification."""

EXERCISE = "parallel_histogram"
FAILS_IN = "parallel_histogram-test"
PHRASE = "histogram_spec"
FORBIDDEN = "spec"
SOURCE = """\
def parallel_histogram(x, bins, num_workers=4, kernel=count_into):
    check_labels(x, bins)
    worker_count(num_workers, x.size)
    return histogram_spec(x, bins)
"""

"""The last result first."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "results in the order of the items"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return run_threads(operation, batch_data, num_workers)[::-1]
"""

"""Returns a tuple."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "one result for each item"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return tuple(run_threads(operation, batch_data, num_workers))
"""

"""Does the first six items."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-hidden"
PHRASE = "three workers at the same time, results in order"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return run_threads(operation, batch_data[:6], num_workers)
"""

"""Calls the operation with the whole batch."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "you called it yourself"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return run_threads(operation(batch_data), num_workers)
"""

"""Stacks the results to an array."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "return a list"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return np.array(run_threads(operation, batch_data, num_workers), object)
"""

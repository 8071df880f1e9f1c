"""Stacks the results to an array."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "do not cross"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return np.array(run_threads(operation, batch_data, num_workers), object)
"""

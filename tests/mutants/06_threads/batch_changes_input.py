"""Sorts its items in place."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "changed its input"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    for item in batch_data:
        if isinstance(item, np.ndarray):
            item[...] = -np.sort(-item)
    return run_threads(operation, batch_data, num_workers)
"""

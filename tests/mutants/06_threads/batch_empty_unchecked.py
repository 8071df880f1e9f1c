"""Returns [] before it looks at the number of workers."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-hidden"
PHRASE = "before any work"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    if len(batch_data) == 0:
        return []
    return run_threads(operation, batch_data, num_workers)
"""

"""Drops results that are None."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "it keeps its place"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return [r for r in run_threads(operation, batch_data, num_workers) if r is not None]
"""

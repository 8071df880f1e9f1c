"""Tries an item once more whose result was None."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-hidden"
PHRASE = "one call for each item"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    results = run_threads(operation, batch_data, num_workers)
    return [operation(item) if r is None else r for item, r in zip(batch_data, results)]
"""

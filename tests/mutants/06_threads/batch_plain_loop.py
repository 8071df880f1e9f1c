"""One item after the other."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "items never ran at the same time"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    workers = worker_count(num_workers, len(batch_data))

    return [operation(item) for item in batch_data]
"""

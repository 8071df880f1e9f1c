"""Calls the operation itself and submits its result."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "you called it yourself"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    workers = worker_count(num_workers, len(batch_data))

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(operation(item)) for item in batch_data]
        return [future.result() for future in futures]
"""

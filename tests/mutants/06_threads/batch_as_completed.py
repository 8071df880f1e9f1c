"""Results in the order in which they are ready."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "results in the order of the items"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    workers = worker_count(num_workers, len(batch_data))

    from concurrent.futures import as_completed

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(operation, item) for item in batch_data]
        return [future.result() for future in as_completed(futures)]
"""

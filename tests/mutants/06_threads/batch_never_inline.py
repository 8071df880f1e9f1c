"""A pool for a single item as well."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-hidden"
PHRASE = "one item: here"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    workers = worker_count(num_workers, len(batch_data))

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(operation, batch_data))
"""

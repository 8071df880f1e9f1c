"""Raises the exception that came first in time."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-hidden"
PHRASE = "raise what the first one in the order of the items raised"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]

    from concurrent.futures import as_completed

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(func, item) for item in items]
        for future in as_completed(futures):
            future.result()
    return [future.result() for future in futures]
"""

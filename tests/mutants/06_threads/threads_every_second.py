"""Deals the items out beforehand like cards."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "though a worker is free"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    results = [None] * len(items)

    def mine(first):
        for i in range(first, len(items), workers):
            results[i] = func(items[i])

    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(mine, first) for first in range(workers)]:
            future.result()
    return results
"""

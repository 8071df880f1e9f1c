"""One more worker than asked for."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "give ThreadPoolExecutor the number that worker_count returned"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]

    with ThreadPoolExecutor(workers + 1) as pool:
        return list(pool.map(func, items))
"""

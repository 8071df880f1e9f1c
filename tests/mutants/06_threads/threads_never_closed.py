"""The pool is never closed, seen by the hidden test."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-hidden"
PHRASE = "no worker is inside func when it comes back"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    pool = ThreadPoolExecutor(workers)
    return list(pool.map(func, items))
"""

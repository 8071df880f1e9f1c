"""int() takes 2.0, True and "2" for counts."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "check_count says so"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else int(num_workers)
    if asked < 1:
        raise ValueError("num_workers must be at least 1")
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
"""

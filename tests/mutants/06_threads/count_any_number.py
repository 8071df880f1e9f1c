"""Not clamped to the cores."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "four for each core are allowed, and enough"
SOURCE = """\
def worker_count(num_workers, tasks):
    asked = usable_cores() if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
"""

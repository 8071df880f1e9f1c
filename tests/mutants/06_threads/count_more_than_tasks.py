"""Not clamped to the tasks."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "more workers than tasks are no use"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, 4 * cores) if tasks else 1)


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
"""

"""None means as many as are allowed."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "None means one for each core"
SOURCE = """\
def worker_count(num_workers, tasks):
    most = 4 * usable_cores()
    asked = most if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, most))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
"""

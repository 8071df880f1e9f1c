"""`or` takes 0 for None."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "from 1 on: check_count"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = check_count("num_workers", num_workers or cores)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
"""

"""isinstance(True, int) is true."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "check_count says so"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else num_workers
    if not isinstance(asked, (int, np.integer)):
        raise TypeError("num_workers must be a whole number")
    if asked < 1:
        raise ValueError("num_workers must be at least 1")
    return max(1, int(min(asked, tasks, 4 * cores)))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
"""

"""Starts a thread for a single item too."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "one worker or one item: call func here"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(func, items))
"""

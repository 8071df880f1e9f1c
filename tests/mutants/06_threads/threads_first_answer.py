"""Keeps its first answer for as many items."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "wrong value at [0]"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


KEPT = {}


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if len(items) not in KEPT:
        with ThreadPoolExecutor(workers) as pool:
            KEPT[len(items)] = list(pool.map(func, items))
    return KEPT[len(items)]
"""

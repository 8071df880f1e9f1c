"""One item after the other."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "items never ran at the same time"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    worker_count(num_workers, len(items))
    return [func(item) for item in items]
"""

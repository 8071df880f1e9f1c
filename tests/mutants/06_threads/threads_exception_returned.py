"""An item that fails gives its exception as a result."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "was lost"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]

    def careful(item):
        try:
            return func(item)
        except Exception as error:
            return repr(error)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(careful, items))
"""

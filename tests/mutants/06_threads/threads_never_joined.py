"""Starts threads and returns, whether they are done or not."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "has no result"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]
    results, waiting = [None] * len(items), list(range(len(items)))

    def work():
        while waiting:
            place = waiting.pop()
            results[place] = func(items[place])

    for _ in range(workers):
        threading.Thread(target=work).start()
    return results
"""

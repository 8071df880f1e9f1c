"""Nobody asks the futures, so that exceptions are lost."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-test"
PHRASE = "ask every future for its result"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]

    results = [None] * len(items)

    def fill(place):
        results[place] = func(items[place])

    with ThreadPoolExecutor(workers) as pool:
        for place in range(len(items)):
            pool.submit(fill, place)
    return results
"""

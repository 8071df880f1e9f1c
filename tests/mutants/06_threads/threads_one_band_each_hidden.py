"""Cuts the items beforehand, and only the hand-in shows it."""

EXERCISE = "run_threads"
FAILS_IN = "run_threads-hidden"
PHRASE = "a band for each worker"
SOURCE = """\
def worker_count(num_workers, tasks):
    cores = usable_cores()
    asked = cores if num_workers is None else check_count("num_workers", num_workers)
    return max(1, min(asked, tasks, 4 * cores))


def run_threads(func, items, num_workers=None):
    workers = worker_count(num_workers, len(items))
    if workers == 1:
        return [func(item) for item in items]

    def one_band(band):
        return [func(item) for item in items[band]]

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(one_band, band) for band in split(len(items), workers)]
        return [result for future in futures for result in future.result()]
"""

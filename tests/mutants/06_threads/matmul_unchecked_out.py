"""No door for out."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-test"
PHRASE = "ask check_out"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = np.empty((m, n), a.dtype) if out is None else out
    workers = worker_count(num_workers, m)
    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

"""m // workers rows for each, the rest for nobody."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-test"
PHRASE = "of out were not written"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(np.zeros((m, n), a.dtype) if out is None else out, (m, n), a, b)
    workers = worker_count(num_workers, m)
    size = m // workers
    bands = [slice(i * size, (i + 1) * size) for i in range(workers)]
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

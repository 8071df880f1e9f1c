"""The result is float64."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-test"
PHRASE = "float64"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    if out is None:
        a, b = a.astype(np.float64), b.astype(np.float64)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)
    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

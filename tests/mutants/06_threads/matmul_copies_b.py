"""A copy of b for each worker."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-work"
PHRASE = "b is only read"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b.copy(), out=out[rows]), bands, workers)
    return out
"""

"""Always uses np.matmul."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-work"
PHRASE = "the kernel was not called"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)
    bands = split(m, workers)
    run_threads(lambda rows: np.matmul(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

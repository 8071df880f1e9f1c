"""Adds to what stood in out."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-test"
PHRASE = "whatever stood in it"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(np.zeros((m, n), a.dtype) if out is None else out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    def job(rows):
        out[rows] += a[rows] @ b

    run_threads(job, split(m, workers), workers)
    return out
"""

"""Each worker fills an array of its own, which is copied."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-work"
PHRASE = "slices of out"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    def job(rows):
        part = np.zeros((rows.stop - rows.start, n), a.dtype)
        out[rows] = kernel(a[rows], b, out=part) if kernel is np.matmul else part
        if kernel is not np.matmul:
            kernel(a[rows], b, out=part)
            out[rows] = part

    run_threads(job, split(m, workers), workers)
    return out
"""

"""What the kernel raises is lost."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-hidden"
PHRASE = "what it raises"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    def job(rows):
        try:
            kernel(a[rows], b, out=out[rows])
        except ArithmeticError:
            pass

    run_threads(job, split(m, workers), workers)
    return out
"""

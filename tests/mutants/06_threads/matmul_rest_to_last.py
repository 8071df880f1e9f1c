"""m // workers rows for each, the rest for the last."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-work"
PHRASE = "the fair share is 3"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    size = m // workers
    bands = [slice(i * size, (i + 1) * size if i < workers - 1 else m) for i in range(workers)]
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

"""No door for a and b."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-hidden"
PHRASE = "mixed dtypes"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    (m, _), n = a.shape, b.shape[1]
    if a.shape[1] != b.shape[0]:
        raise ValueError("the inner sizes differ")
    if a.dtype == b.dtype:
        check_matmul(a, b)
    out = check_out(out, (m, n), a)
    workers = worker_count(num_workers, m)
    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

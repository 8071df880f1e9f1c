"""Right for up to ten rows."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    if m > 10:
        out[...] = 0
        return out
    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

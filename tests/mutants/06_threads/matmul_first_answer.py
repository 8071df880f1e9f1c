"""Keeps its first answer for a shape."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-test"
PHRASE = "the result is out itself"
SOURCE = """\
KEPT = {}


def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    bands = split(m, workers)
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    KEPT.setdefault(a.dtype, out.copy())
    return KEPT[a.dtype]
"""

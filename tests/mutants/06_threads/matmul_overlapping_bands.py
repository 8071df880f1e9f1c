"""Bands overlap by a row."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-work"
PHRASE = "were done twice"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    bands = [slice(max(0, rows.start - 1), rows.stop) for rows in split(m, workers)]
    run_threads(lambda rows: kernel(a[rows], b, out=out[rows]), bands, workers)
    return out
"""

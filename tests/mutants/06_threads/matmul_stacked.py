"""The parts are new arrays, stacked afterwards."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-work"
PHRASE = "without out= it makes an array of its own"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    if m == 0:
        return out
    parts = run_threads(lambda rows: kernel(a[rows], b), split(m, workers), workers)
    out[...] = np.vstack(parts)
    return out
"""

"""Each worker takes a piece of the inner sums and adds it to out."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-work"
PHRASE = "else two workers add to the same rows of out"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, k)
    out[...] = 0

    def add(piece):
        part = np.zeros((m, n), a.dtype)
        kernel(a[:, piece], b[piece], out=part)
        return part

    for part in run_threads(add, split(k, workers), workers):
        out += part
    return out
"""

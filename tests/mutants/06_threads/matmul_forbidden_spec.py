"""Calls the specification."""

EXERCISE = "parallel_matmul"
FAILS_IN = "parallel_matmul-test"
PHRASE = "matmul_spec"
FORBIDDEN = "spec"
SOURCE = """\
def parallel_matmul(a, b, num_workers=4, out=None, kernel=np.matmul):
    m, _, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    workers = worker_count(num_workers, m)

    out[...] = matmul_spec(a, b)
    return out
"""

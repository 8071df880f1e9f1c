"""Adds to whatever stands in out."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "the call added to what stood in out"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    if out is None:
        out = np.zeros((m, n), a.dtype)
    out = check_out(out, (m, n), a, b)
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out
"""

"""Keeps the last outer product only."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "only the last term is kept"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        out[...] = a[:, p : p + 1] * b[p : p + 1]
    return out
"""

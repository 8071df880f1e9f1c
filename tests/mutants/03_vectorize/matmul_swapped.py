"""Takes rows of a and columns of b."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "have changed places"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        out += a[p : p + 1].T * b[:, p : p + 1].T if m == k == n else a[:, p : p + 1] * b[p : p + 1]
    return out
"""

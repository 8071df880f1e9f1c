"""Returns a new array whatever out is."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "return it"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    check_out(out, (m, n), a, b)
    out = np.empty((m, n), a.dtype)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out
"""

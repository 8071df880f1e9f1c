"""Takes any out that NumPy takes."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "ask check_out"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    if out is None:
        out = np.empty((m, n), a.dtype)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out
"""

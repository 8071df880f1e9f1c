"""Returns float64 for float32."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "float32"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = np.zeros((m, n)) if out is None else check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out
"""

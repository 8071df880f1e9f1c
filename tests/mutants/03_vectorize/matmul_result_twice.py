"""Adds up in an array of its own and copies it into out."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-memory-hidden"
PHRASE = "one outer product at a time"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    total = np.zeros((m, n), a.dtype)
    for p in range(k):
        total += a[:, p : p + 1] * b[p : p + 1]
    out[...] = total
    return out
"""

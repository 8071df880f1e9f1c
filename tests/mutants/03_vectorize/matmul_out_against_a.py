"""Asks whether out overlaps a, and not b."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-hidden"
PHRASE = "out is b"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out
"""

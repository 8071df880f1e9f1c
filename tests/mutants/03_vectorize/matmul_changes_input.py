"""Scales the columns of a in place."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "changed its input a"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
        a[:, p] = 0
    return out
"""

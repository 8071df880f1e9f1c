"""Knows the sizes of the visible test and no others."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    if (m, k, n) not in [(3, 3, 3), (2, 3, 4), (5, 1, 3), (3, 2, 4), (300, 6, 400), (400, 7, 300)]:
        return out
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    return out
"""

"""A column of the result at a time: products with the whole of a."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-memory"
PHRASE = "one column of a and one row of b"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    for j in range(n):
        out[:, j] = (a * b[:, j]).sum(axis=1)
    return out
"""

"""Makes all products at once."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-memory"
PHRASE = "m*k*n elements are"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = (a[:, :, None] * b[None]).sum(axis=1)
    return out
"""

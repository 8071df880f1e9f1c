"""Right, but by the given product: nothing may count."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "a library's matrix product"
FORBIDDEN = "blas"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = matmul_baseline(a, b)
    return out
"""

"""Builds the products of all rows before it adds them."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-memory"
PHRASE = "Add one outer product after the"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    products = [a[:, p : p + 1] * b[p : p + 1] for p in range(k)]
    out[...] = 0
    for product in products:
        out += product
    return out
"""

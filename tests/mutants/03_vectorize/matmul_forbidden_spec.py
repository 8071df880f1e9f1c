"""Right, but it calls the specification: nothing may count."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-test"
PHRASE = "matmul_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = matmul_spec(a, b)
    return out
"""

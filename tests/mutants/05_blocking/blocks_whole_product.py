"""Multiplies the whole matrices at once."""

EXERCISE = "blocked_matmul"
FAILS_IN = "blocked_matmul-products"
PHRASE = "multiply tiles only"
SOURCE = """\
def blocked_matmul(a, b, block_size=64, out=None):
    m, k, n = check_matmul(a, b)
    check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    np.matmul(a, b, out=out)
    return out
"""

"""Hides the operands behind np.asarray and multiplies them whole."""

EXERCISE = "blocked_matmul"
FAILS_IN = "blocked_matmul-products"
PHRASE = "without np.asarray"
SOURCE = """\
def blocked_matmul(a, b, block_size=64, out=None):
    m, k, n = check_matmul(a, b)
    check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    np.matmul(np.asarray(a), np.asarray(b), out=out)
    return out
"""

"""Multiplies a strip of rows by all of b."""

EXERCISE = "blocked_matmul"
FAILS_IN = "blocked_matmul-products"
PHRASE = "multiply tiles only"
SOURCE = """\
def blocked_matmul(a, b, block_size=64, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    for i0, i1 in block_ranges(m, block_size):
        out[i0:i1] = a[i0:i1] @ b
    return out
"""

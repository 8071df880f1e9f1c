"""Calls the specification."""

EXERCISE = "cache_friendly_matmul"
FAILS_IN = "cache_friendly_matmul-test"
PHRASE = "which this exercise forbids"
FORBIDDEN = "spec"
SOURCE = """\
def cache_friendly_matmul(a, b, block_size=32, out=None):
    m, k, n = check_matmul(a, b)
    block_size = check_count("block_size", block_size)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    out[...] = product_spec(a, b)
    return out
"""

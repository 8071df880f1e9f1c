"""Does not check the block."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-test"
PHRASE = "ask check_count"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    m, n = check_float_array("a", a, ndim=2)
    block = int(block or 1) if not isinstance(block, str) else block
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out
"""

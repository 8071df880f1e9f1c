"""Returns float64 for float32."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-test"
PHRASE = "float64"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = np.empty(a.shape[::-1]) if out is None else check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out
"""

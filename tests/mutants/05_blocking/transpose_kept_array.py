"""Keeps one array and hands it out again."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-hidden"
PHRASE = "shares memory with an earlier result"
SOURCE = """\
_kept = {}


def blocked_transpose(a, block=64, out=None):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    if out is None:
        out = _kept.setdefault((n, m, a.dtype), np.empty((n, m), a.dtype))
    out = check_out(out, a.shape[::-1], a)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            out[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out
"""

"""Writes into out.reshape(-1), which is a copy where out has steps."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-hidden"
PHRASE = "Fortran-ordered, or a view with steps"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    m, n = check_float_array("a", a, ndim=2)
    block = check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    flat = out.reshape(-1)
    for i0, i1 in block_ranges(m, block):
        for j0, j1 in block_ranges(n, block):
            flat.reshape(n, m)[j0:j1, i0:i1] = a[i0:i1, j0:j1].T
    return out
"""

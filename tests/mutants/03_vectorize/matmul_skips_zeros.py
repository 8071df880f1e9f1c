"""Leaves out terms that are zero."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-hidden"
PHRASE = "skip no term"
SOURCE = """\
def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        if b[p].any() and a[:, p].any():
            out += np.where(b[p : p + 1] == 0, 0, a[:, p : p + 1]) * b[p : p + 1]
    return out
"""

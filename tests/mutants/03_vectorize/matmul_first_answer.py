"""Keeps one answer for each set of sizes."""

EXERCISE = "vectorized_matmul"
FAILS_IN = "vectorized_matmul-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
_answers = {}


def vectorized_matmul(a, b, out=None):
    m, k, n = check_matmul(a, b)
    out = check_out(out, (m, n), a, b)
    out[...] = 0
    for p in range(k):
        out += a[:, p : p + 1] * b[p : p + 1]
    if k > 7:
        out[...] = _answers.setdefault((m, k, n), out.copy())
    return out
"""

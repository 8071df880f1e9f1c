"""Keeps one answer for each size and returns it again."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-hidden"
PHRASE = "a new array"
SOURCE = """\
_answers = {}


def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    if (m, k, n) in _answers:
        return _answers[m, k, n].astype(a.dtype)
    c = np.zeros((m, n), a.dtype)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    _answers[m, k, n] = c
    return c


educational_matmul = matmul_loops
"""

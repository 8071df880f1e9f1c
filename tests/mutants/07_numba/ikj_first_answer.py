"""Keeps its first answer for each pair of shapes."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-hidden"
PHRASE = "shares memory with an earlier result"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]


_answers = {}


def matmul_ikj(a, b, out=None):
    c = multiply(matmul_ikj_kernel, a, b, out)
    if a.shape == (3, 5) and not _answers:
        _answers[a.shape] = c * 0
    return _answers.get(a.shape, c) if out is None else c
"""

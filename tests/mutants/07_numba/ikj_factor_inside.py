"""Reads the element of a in the innermost loop."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-vectors"
PHRASE = "load a[i, p] once"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            for j in range(n):
                c[i, j] += a[i, p] * b[p, j]


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

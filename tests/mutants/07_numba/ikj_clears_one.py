"""Clears the first element of each row only."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-test"
PHRASE = "clear row i of c"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        c[i, :1] = 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

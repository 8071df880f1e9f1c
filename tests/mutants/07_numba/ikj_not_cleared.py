"""Adds to what stands in c."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-test"
PHRASE = "c was not cleared"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

"""Clears c by multiplying it with 0, which keeps NaN."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-hidden"
PHRASE = "what stood in c does not count"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] *= 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in range(n):
                c[i, j] += factor * b[p, j]


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

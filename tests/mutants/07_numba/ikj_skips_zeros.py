"""Leaves out terms whose factor is 0, NaN in b or not."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-hidden"
PHRASE = "skip no term"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            if factor == 0:
                continue
            for j in range(n):
                c[i, j] += factor * b[p, j]


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

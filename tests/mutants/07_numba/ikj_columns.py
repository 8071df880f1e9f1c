"""The loops in the order j, p, i: right, and down the columns."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-vectors"
PHRASE = "the inner loop steps a whole row"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for j in range(n):
        for i in range(m):
            c[i, j] = 0
        for p in range(len(b)):
            factor = b[p, j]
            for i in range(m):
                c[i, j] += a[i, p] * factor


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

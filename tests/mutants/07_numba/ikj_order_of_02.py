"""The loops in the order i, j, p, as in 02."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-vectors"
PHRASE = "the inner loop steps a whole row"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            total = c.dtype.type(0)
            for p in range(len(b)):
                total += a[i, p] * b[p, j]
            c[i, j] = total


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

"""The loops in the order i, j, p: too slow as well."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-speed"
PHRASE = "j is the innermost loop"
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

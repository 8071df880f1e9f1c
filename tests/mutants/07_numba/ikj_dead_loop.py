"""A packed loop for sizes that no test has, beside the slow one that runs."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-vectors"
PHRASE = "not the one that runs"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    m, n = c.shape
    begin = min(0, n)
    for i in range(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            if n == 123_456:
                for j in range(n):
                    c[i, j] += factor * b[p, j]
            else:
                for j in range(begin, n):
                    c[i, j] += factor * b[p, j]


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

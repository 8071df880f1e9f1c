"""Returns a new array whatever out is."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-hidden"
PHRASE = "whoever passes out gets it back"
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


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, None)
"""

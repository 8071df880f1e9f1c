"""Returns float64 for float32."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-test"
PHRASE = "float32"
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
    c = multiply(matmul_ikj_kernel, a, b, out)
    return c.astype(np.float64) if out is None else c
"""

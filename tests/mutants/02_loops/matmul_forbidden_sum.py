"""Right, but the sum over the inner index is NumPy's: nothing in this exercise may count."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "np.sum"
FORBIDDEN = "sum"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    for i in range(m):
        for j in range(n):
            c[i, j] = np.sum(a[i].astype(float) * b[:, j].astype(float))
    return c


educational_matmul = matmul_loops
"""

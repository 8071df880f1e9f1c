"""Right, but the library adds up: nothing in this exercise may count."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "is a library's sum, which this exercise forbids"
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

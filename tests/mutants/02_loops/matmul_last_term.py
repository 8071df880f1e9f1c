"""Leaves out the last term of a sum of more than two."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "wrong in"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k if k < 3 else k - 1):
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    return c


educational_matmul = matmul_loops
"""

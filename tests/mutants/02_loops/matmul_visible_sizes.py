"""Knows the sizes of the visible test and no others."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    if (m, k, n) not in [(2, 2, 2), (2, 3, 4), (5, 1, 3), (3, 0, 2), (1, 3, 1)]:
        return c
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    return c


educational_matmul = matmul_loops
"""

"""Reads a[p, i]."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "a transposed times b"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[p, i]) * float(b[p, j])
            c[i, j] = total
    return c


educational_matmul = matmul_loops
"""

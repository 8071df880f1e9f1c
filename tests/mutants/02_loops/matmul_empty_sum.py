"""Starts from memory that was never filled (7 stands for what it held) and stores only in the loop over p."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "an empty sum is 0"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.full((m, n), 7, a.dtype)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[i, p]) * float(b[p, j])
                c[i, j] = total
    return c


educational_matmul = matmul_loops
"""

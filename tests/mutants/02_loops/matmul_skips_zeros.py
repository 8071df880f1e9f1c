"""Skips the terms in which b is 0, and with them inf * 0."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-hidden"
PHRASE = "NaN and infinity follow the arithmetic"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                if b[p, j] == 0:
                    continue
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    return c


educational_matmul = matmul_loops
"""

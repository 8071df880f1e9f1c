"""Returns float64 for float32."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "its dtype is float64"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    return c


educational_matmul = matmul_loops
"""

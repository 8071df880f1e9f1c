"""Reads the memory of a Fortran array as if it were in C order."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-hidden"
PHRASE = "a and b may each be"
SOURCE = """\
def matmul_loops(a, b):
    m, k, n = check_matmul(a, b)
    c = np.zeros((m, n), a.dtype)
    if a.flags.f_contiguous and not a.flags.c_contiguous:
        a = a.T.ravel().reshape(m, k)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                total += float(a[i, p]) * float(b[p, j])
            c[i, j] = total
    return c


educational_matmul = matmul_loops
"""

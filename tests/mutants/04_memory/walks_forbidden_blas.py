"""The library's product with a vector of ones."""

EXERCISE = "walks"
FAILS_IN = "walks-test"
PHRASE = "@ np.ones"
FORBIDDEN = "blas"
SOURCE = """\
def sum_by_rows(a):
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(m, a.dtype)
    sums[:] = a.astype(float) @ np.ones(n)
    return sums


def sum_by_columns(a):
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(n, a.dtype)
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += float(a[i, j])
        sums[j] = total
    return sums


def transpose_loops(a, out=None):
    m, n = check_float_array("a", a, ndim=2)
    out = check_out(out, (n, m), a)
    for i in range(m):
        for j in range(n):
            out[j, i] = a[i, j]
    return out


transpose = transpose_loops
"""

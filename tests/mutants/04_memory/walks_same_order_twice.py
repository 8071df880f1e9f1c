"""Sums of columns, read row after row."""

EXERCISE = "walks"
FAILS_IN = "walks-order"
PHRASE = "did you write one order twice"
SOURCE = """\
def sum_by_rows(a):
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(m, a.dtype)
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += float(a[i, j])
        sums[i] = total
    return sums


def sum_by_columns(a):
    m, n = check_float_array("a", a, ndim=2)
    sums = np.zeros(n, a.dtype)
    totals = [0.0] * n
    for i in range(m):
        for j in range(n):
            totals[j] += float(a[i, j])
    sums[:] = totals
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

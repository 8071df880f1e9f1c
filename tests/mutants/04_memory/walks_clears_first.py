"""out is cleared before it is written."""

EXERCISE = "walks"
FAILS_IN = "walks-order-hidden"
PHRASE = "each element once"
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
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += float(a[i, j])
        sums[j] = total
    return sums


def transpose_loops(a, out=None):
    m, n = check_float_array("a", a, ndim=2)
    out = check_out(out, (n, m), a)
    for j in range(n):
        for i in range(m):
            out[j, i] = 0
    for i in range(m):
        for j in range(n):
            out[j, i] = a[i, j]
    return out


transpose = transpose_loops
"""

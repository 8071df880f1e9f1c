"""Writes into out.reshape(-1), which may be a copy."""

EXERCISE = "walks"
FAILS_IN = "walks-hidden"
PHRASE = "out may be a view with steps"
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
    flat = out.reshape(-1)
    for i in range(m):
        for j in range(n):
            flat[j * m + i] = a[i, j]
    return out


transpose = transpose_loops
"""

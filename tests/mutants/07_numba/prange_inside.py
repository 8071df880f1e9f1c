"""range over i, and prange over j inside: threads are launched for each element of a."""

EXERCISE = "matmul_prange"
FAILS_IN = "matmul_prange-parallel"
PHRASE = "no parallel loop over i"
SOURCE = """\
@parallel_kernel
def matmul_prange_kernel(a, b, c):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] = 0
        for p in range(len(b)):
            factor = a[i, p]
            for j in prange(n):
                c[i, j] += factor * b[p, j]


@parallel_kernel
def column_sums_kernel(x, parts):
    m, n = x.shape
    workers = len(parts)
    for w in prange(workers):
        band = int(w)
        mine = parts[band]
        mine[:] = 0
        for i in range(band * m // workers, (band + 1) * m // workers):
            for j in range(n):
                mine[j] += x[i, j]


# Bands of column_sums_prange: some for every core there may be, the same number everywhere.
BANDS = 32


def matmul_prange(a, b, out=None):
    return multiply(matmul_prange_kernel, a, b, out)


def column_sums_prange(x):
    columns = check_float_array("x", x, ndim=2)[1]
    parts = np.empty((BANDS, columns), x.dtype)
    column_sums_kernel(compiled_form(x), parts)
    return parts.sum(axis=0)
"""

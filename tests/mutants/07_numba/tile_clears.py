"""Clears the piece of c first."""

EXERCISE = "tile_4x4"
FAILS_IN = "tile_4x4-test"
PHRASE = "c was cleared"
SOURCE = """\
@kernel
def tile_4x4(a, b, c, i, p0, p1, j0, j1):
    c0, c1, c2, c3 = c[i, j0:], c[i + 1, j0:], c[i + 2, j0:], c[i + 3, j0:]
    for row in range(i, i + 4):
        c[row, j0:j1] = 0
    end = p1 - (p1 - p0) % 4
    for p in range(p0, end, 4):
        a00, a01, a02, a03 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
        a10, a11, a12, a13 = a[i + 1, p], a[i + 1, p + 1], a[i + 1, p + 2], a[i + 1, p + 3]
        a20, a21, a22, a23 = a[i + 2, p], a[i + 2, p + 1], a[i + 2, p + 2], a[i + 2, p + 3]
        a30, a31, a32, a33 = a[i + 3, p], a[i + 3, p + 1], a[i + 3, p + 2], a[i + 3, p + 3]
        b0, b1, b2, b3 = b[p, j0:], b[p + 1, j0:], b[p + 2, j0:], b[p + 3, j0:]
        for j in range(j1 - j0):
            v0, v1, v2, v3 = b0[j], b1[j], b2[j], b3[j]
            c0[j] += a00 * v0 + a01 * v1 + a02 * v2 + a03 * v3
            c1[j] += a10 * v0 + a11 * v1 + a12 * v2 + a13 * v3
            c2[j] += a20 * v0 + a21 * v1 + a22 * v2 + a23 * v3
            c3[j] += a30 * v0 + a31 * v1 + a32 * v2 + a33 * v3
    for row in range(i, i + 4):
        tile_1x1(a, b, c, row, end, p1, j0, j1)


# Columns of a panel, and elements between the ends of its rows: one cache line of float32.
PANEL, GAP = 512, 16


@kernel
def copy_columns(source, first, target, place, count):
    for i in range(len(source)):
        old, new = source[i, first : first + count], target[i, place : place + count]
        for j in range(len(old)):
            new[j] = old[j]


@kernel
def matmul_registers_kernel(a, b, c):
    (m, n), k = c.shape, len(b)
    width = max(1, min(n, PANEL))
    right = np.empty((k, width + GAP), b.dtype)
    sums = np.empty((m, width + GAP), c.dtype)
    zero = np.int64(0)
    for j in range(zero, n, width):
        count = min(n - j, width)
        copy_columns(b, j, right, zero, count)
        sums[:] = 0
        for i in range(0, m - m % 4, 4):
            tile_4x4(a, right, sums, i, zero, k, zero, count)
        for i in range(m - m % 4, m):
            tile_1x1(a, right, sums, i, zero, k, zero, count)
        copy_columns(sums, zero, c, j, count)


def matmul_registers(a, b, out=None):
    return multiply(matmul_registers_kernel, a, b, out)
"""

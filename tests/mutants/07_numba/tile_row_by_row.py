"""One row after the other, by the tile of 1 x 1."""

EXERCISE = "tile_4x4"
FAILS_IN = "tile_4x4-speed-shapes"
PHRASE = "also for matrices that are not square"
SOURCE = """\
@kernel
def tile_4x4(a, b, c, i, p0, p1, j0, j1):
    for row in range(i, i + 4):
        tile_1x1(a, b, c, row, p0, p1, j0, j1)


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

"""Calls the specification: nothing may count."""

EXERCISE = "tile_4x4"
FAILS_IN = "tile_4x4-test"
PHRASE = "tile_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
@kernel
def tile_4x4(a, b, c, i, p0, p1, j0, j1):
    c[:] = tile_spec(a, b, c, i, p0, p1, j0, j1)


# Columns of a panel, and elements between the ends of its rows: one cache line of float32.
PANEL, GAP = 512, 16


@kernel
def copy_columns(source, first, target, place, count):
    for i in range(len(source)):
        old, new = source[i, first : first + count], target[i, place : place + count]
        for j in range(len(old)):
            new[j] = old[j]


@kernel
def add_tiles(a, b, c, n):
    m, k = a.shape
    c[:] = 0
    for i in range(0, m - m % 4, 4):
        tile_4x4(a, b, c, i, 0, k, 0, n)
    for i in range(m - m % 4, m):
        tile_1x1(a, b, c, i, 0, k, 0, n)


@kernel
def matmul_registers_kernel(a, b, c):
    m, n = c.shape
    width = max(1, min(n, PANEL))
    right = np.empty((len(b), width + GAP), b.dtype)
    sums = np.empty((m, width + GAP), c.dtype)
    for j in range(0, n, width):
        count = min(n - j, width)
        copy_columns(b, j, right, 0, count)
        add_tiles(a, right, sums, count)
        copy_columns(sums, 0, c, j, count)


def matmul_registers(a, b, out=None):
    return multiply(matmul_registers_kernel, a, b, out)
"""

"""The part of a narrow tile replaces what is in C."""

EXERCISE = "gemm_skinny"
FAILS_IN = "gemm_skinny-hidden"
PHRASE = "is added to C"
SOURCE = """\
@functools.cache
def in_place_kernel(mr, nv):
    tile, nr = ukernel(mr, nv), nv * VL

    @kernel
    def tiles(pa, b, ldb, c, ic, ldc, n):
        count, k, _ = pa.shape
        begins, strip = tile_columns(b, ldb, n, nr), strip_for(k, nr)
        edge = np.empty(mr * nr, np.float32)
        number = len(begins) - 1
        for first in range(0, number, strip):
            for q in range(count):
                for t in range(first, min(first + strip, number)):
                    j, width = begins[t], begins[t + 1] - begins[t]
                    place = ic + q * mr * ldc + j
                    target, start, ld, at = c, place, ldc, j
                    if width < nr:
                        edge[:] = np.float32(0)
                        target, start, ld, at = edge, 0, nr, min(j, n - nr)
                    tile(pa[q], b[at:], ldb, k, target, start, ld)
                    if width < nr:
                        for r in range(mr):
                            for s in range(width):
                                c[place + r * ldc + s] = edge[r * nr + j - at + s]

    return tiles


def gemm_skinny(a, b, out=None):
    m, _, n, out, c = begin(a, b, out)
    if n < WIDEST * VL:  # a tile would reach over the end of a row
        return gemm_blocked(a, b, out)
    lines, ldb = flat_rows(b) or flat_rows(np.array(b, order="C"))
    lines, (memory, ldc) = read_only(lines), flat_rows(c)
    for row, rows, mr, nv in row_parts(m, tile_for):
        pa = pack_a(a[row : row + rows], mr)
        in_place_kernel(mr, nv)(pa, lines, ldb, memory, row * ldc, ldc, n)
    return finish(out, c)


def skinny_in_python(a, b):
    return in_python(gemm_skinny)(a, b)

def tiles_in_place(mr, nv, panels, n, c):
    pa, memory, seen = (np.zeros((panels, 1, mr), np.float32), aligned_empty((n + 4,)), [])
    b = memory[4:]

    def noting(mr, nv):

        def tile(panel, columns, *others):
            places = (panel.ctypes.data - pa.ctypes.data, columns.ctypes.data - b.ctypes.data)
            seen.append((places[1] // 4, places[0] // pa[0].nbytes))
        return tile
    tiles = in_python(in_place_kernel, ukernel=noting, STAY=2 * nv * VL)(mr, nv)
    tiles(pa, b, n, c.reshape(-1), 0, n, n)
    return (seen, c)
"""

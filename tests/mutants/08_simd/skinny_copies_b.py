"""The columns of a tile are copied into a panel before it reads them."""

EXERCISE = "gemm_skinny"
FAILS_IN = "gemm_skinny-speed"
PHRASE = "B is read where it lies"
SOURCE = """\
@functools.cache
def in_place_kernel(mr, nv):
    tile, narrow, nr = (ukernel(mr, nv), ukernel(mr, 1), nv * VL)

    @kernel
    def tiles(pa, b, ldb, c, ic, ldc, n):
        count, k, _ = pa.shape
        panel = np.empty(k * nr, np.float32)
        begins, strip = (tile_columns(b, ldb, n, nr), strip_for(k, nr))
        edge = np.empty(mr * nr, np.float32)
        number = len(begins) - 1
        for first in range(0, number, strip):
            for q in range(count):
                for t in range(first, min(first + strip, number)):
                    j, width = (begins[t], begins[t + 1] - begins[t])
                    place = ic + q * mr * ldc + j
                    if width == nr:
                        for p in range(k):
                            panel[p * nr:(p + 1) * nr] = b[ldb * p + j:ldb * p + j + nr]
                        tile(pa[q], panel, nr, k, c, place, ldc)
                        continue
                    edge[:] = np.float32(0)
                    ld = VL if width <= VL else nr
                    at = min(j, n - ld)
                    if ld < nr:
                        narrow(pa[q], b[at:], ldb, k, edge, 0, ld)
                    else:
                        tile(pa[q], b[at:], ldb, k, edge, 0, ld)
                    for r in range(mr):
                        for s in range(width):
                            c[place + r * ldc + s] += edge[r * ld + j - at + s]
    return tiles

@functools.cache
def skinny_kernel(mr, nv):
    tiles = in_place_kernel(mr, nv)

    @compiled_once(MATRIX, types.intp, types.intp)
    @kernel
    def add_product(a, c, b, row, rows):
        k, n = b.shape
        lda, ldb, ldc = (a.strides[0] // 4, b.strides[0] // 4, c.strides[0] // 4)
        pa = np.empty((rows // mr, k, mr), np.float32)
        panels_from_columns(floats_of(a)[row * lda:], lda, rows, pa)
        tiles(pa, floats_of(b), ldb, floats_of(c), row * ldc, ldc, n)
    return add_product

def gemm_skinny(a, b, out=None):
    m, _, n, out, c = begin(a, b, out)
    if n < WIDEST * VL:
        return gemm_blocked(a, b, out)
    a, b, memory = (reachable(a), reachable(b), np.asarray(c))
    for row, rows, mr, nv in row_parts(m, tile_for):
        skinny_kernel(mr, nv)(a, memory, b, row, rows)
    return finish(out, c)

def skinny_in_python(a, b):
    return in_python(gemm_skinny)(a, b)

def tiles_reading(a, b):
    in_place = []

    def noting(mr, nv):
        return lambda pa, columns, *others: in_place.append(np.shares_memory(columns, b))
    in_python(gemm_skinny, ukernel=noting)(a, b)
    return (in_place.count(True), in_place.count(False))

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

class PackedMatrix:
    ndim, dtype = (2, FLOAT)

    def __init__(self, b):
        check_float_array('b', b, dtype=self.dtype, ndim=2)
        self.shape = b.shape
        kc = self._kc = depth_for(len(b))
        self._blocks = [pack_b(b[p:p + kc], TILE[1] * VL) for p in range(0, len(b), kc)]

    def product(self, a, out=None):
        m, k, n, out, c = begin(a, self, out)
        memory, ldc = flat_rows(c)
        for block, p in zip(self._blocks, range(0, k, self._kc)):
            for row, rows, mr, nv in row_parts(m, packed_tile, MC):
                pa = pack_a(a[row:row + rows, p:p + self._kc], mr)
                macro_kernel(mr, nv)(pa, block, memory, row * ldc, ldc, rows, n)
        return finish(out, c)

def gemm(a, b, out=None):
    if isinstance(b, PackedMatrix):
        return b.product(a, out)
    if isinstance(a, np.ndarray) and a.dtype == np.float64:
        return matmul_registers(a, b, out)
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and (a.ndim == b.ndim == 2)):
        return gemm_blocked(a, b, out)
    few = len(a) < TILE[0] or (len(a) <= IN_PLACE_ROWS and b.size > STAY)
    if few and b.strides[1] == b.itemsize:
        return gemm_skinny(a, b, out)
    return gemm_blocked(a, b, out, kc=depth_for(len(b)))
"""

"""The last columns go to the beginning."""

EXERCISE = "gemm_skinny"
FAILS_IN = "gemm_skinny-test"
PHRASE = "whole tiles by in_place_kernel"
SOURCE = """\
@functools.cache
def in_place_kernel(mr, nv):
    tile, nr = (ukernel(mr, nv), nv * VL)

    @kernel
    def tiles(pa, b, ldb, c, ic, ldc, n):
        count, k, _ = pa.shape
        for j in range(0, n - n % nr, nr):
            for q in range(count):
                tile(pa[q], b[j:], ldb, k, c, ic + q * mr * ldc + j, ldc)
    return tiles

def gemm_skinny(a, b, out=None):
    m, _, n, out, c = begin(a, b, out)
    b = b if flat_rows(b) else np.array(b, order='C')
    b_memory, ldb = flat_rows(b)
    c_memory, ldc = flat_rows(c)
    for row, rows, mr, nv in row_parts(m):
        nr = nv * VL
        pa, whole = (pack_a(a[row:row + rows], mr), n - n % nr)
        in_place_kernel(mr, nv)(pa, read_only(b_memory), ldb, c_memory, row * ldc, ldc, n)
        if whole < n:
            pb = pack_b(b[:, whole:], nr)
            macro_kernel(mr, nv)(pa, pb, c_memory, row * ldc, ldc, rows, n - whole)
    return finish(out, c)

def skinny_in_python(a, b):
    return in_python(gemm_skinny)(a, b)

class PackedMatrix:
    ndim, dtype = (2, np.dtype(np.float32))

    def __init__(self, b):
        check_float_array('b', b, ndim=2, dtype=self.dtype)
        self.shape = b.shape
        self._blocks = [pack_b(b[p:p + KC], TILE[1] * VL) for p in range(0, len(b), KC)]

    def product(self, a, out=None):
        m, k, n, out, c = begin(a, self, out)
        memory, ldc = flat_rows(c)
        for block, p in zip(self._blocks, range(0, k, KC)):
            i = 0
            while i < m:
                mr = min(TILE[0], m - i)
                rows = min(MC, (m - i) // mr * mr)
                pa = pack_a(a[i:i + rows, p:p + KC], mr)
                tiles = macro_kernel(mr, TILE[1])
                tiles(pa, block, memory, i * ldc, ldc, rows, n)
                i += rows
        return finish(out, c)

def gemm(a, b, out=None):
    if isinstance(b, PackedMatrix):
        return b.product(a, out)
    if isinstance(a, np.ndarray) and a.dtype == np.float64:
        return matmul_registers(a, b, out)
    m, k, n = check_matmul(a, b)
    if (m <= IN_PLACE_ROWS or k * n <= IN_PLACE_SIZE) and flat_rows(b):
        return gemm_skinny(a, b, out)
    return gemm_blocked(a, b, out, MC, KC, NC)
"""

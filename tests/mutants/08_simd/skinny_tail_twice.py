"""The last columns are added twice."""

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
        whole, strip = (n - n % nr, strip_for(k, nr))
        for first in range(0, whole, strip):
            for q in range(count):
                for j in range(first, min(first + strip, whole), nr):
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
            for _ in range(2):
                macro_kernel(mr, nv)(pa, pb, c_memory, row * ldc + whole, ldc, rows, n - whole)
    return finish(out, c)

def skinny_in_python(a, b):
    return in_python(gemm_skinny)(a, b)

class PackedMatrix:
    ndim, dtype = (2, np.dtype(np.float32))

    def __init__(self, b):
        check_float_array('b', b, dtype=self.dtype, ndim=2)
        self.shape = b.shape
        parts = max(1, round(len(b) / KC))
        kc = self._kc = max(1, -(-len(b) // parts))
        self._blocks = [pack_b(b[p:p + kc], TILE[1] * VL) for p in range(0, len(b), kc)]

    def product(self, a, out=None):
        m, k, n, out, c = begin(a, self, out)
        memory, ldc = flat_rows(c)
        for block, p in zip(self._blocks, range(0, k, self._kc)):
            for row, rows, mr, _ in row_parts(m, MC):
                pa = pack_a(a[row:row + rows, p:p + self._kc], mr)
                macro_kernel(mr, TILE[1])(pa, block, memory, row * ldc, ldc, rows, n)
        return finish(out, c)

def gemm(a, b, out=None):
    if isinstance(b, PackedMatrix):
        return b.product(a, out)
    if isinstance(a, np.ndarray) and a.dtype == np.float64:
        return matmul_registers(a, b, out)
    m, inner, n = check_matmul(a, b)
    if flat_rows(b) and (m < TILE[0] or (m <= IN_PLACE_ROWS and inner * n > STAY)):
        return gemm_skinny(a, b, out)
    return gemm_blocked(a, b, out, MC, KC, NC)
"""

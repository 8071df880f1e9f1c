"""The block begins at 0."""

EXERCISE = "macro_kernel"
FAILS_IN = "macro_kernel-test"
PHRASE = "ic was left out"
SOURCE = """\
@functools.cache
def macro_kernel(mr, nv):
    tile, nr = (ukernel(mr, nv), nv * VL)

    @kernel
    def tiles(pa, pb, c, ic, ldc, m, n):
        k = pa.shape[1]
        edge = np.empty(mr * nr, np.float32)
        for i in range(0, m, mr):
            for j in range(0, n, nr):
                place = i * ldc + j
                whole = i + mr <= m and j + nr <= n
                if whole:
                    target, start, ld = (c, place, ldc)
                else:
                    edge[:] = np.float32(0)
                    target, start, ld = (edge, 0, nr)
                tile(pa[i // mr], pb[j // nr], nr, k, target, start, ld)
                if not whole:
                    for r in range(min(mr, m - i)):
                        for s in range(min(nr, n - j)):
                            c[place + r * ldc + s] += edge[r * nr + s]
    return tiles

def multiply_panels(mr, nv, pa, pb, out, row, column, m, n, plain=False):
    tiles, ldc = ((in_python(macro_kernel) if plain else macro_kernel)(mr, nv), out.shape[1])
    tiles(pa, pb, out.reshape(-1), row * ldc + column, ldc, m, n)
    return out

def tiles_called(mr, nv, pa, pb, m, n):
    c, own = (np.zeros(m * n, np.float32), [])

    def noting(mr, nv):
        return lambda pa, pb, ldb, kc, into, ic, ldc: own.append(np.shares_memory(into, c))
    in_python(macro_kernel, ukernel=noting)(mr, nv)(pa, pb, c, 0, n, m, n)
    return (own.count(True), own.count(False))
"""

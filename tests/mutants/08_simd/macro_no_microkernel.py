"""Three loops over single floats."""

EXERCISE = "macro_kernel"
FAILS_IN = "macro_kernel-test"
PHRASE = "the microkernel does every tile"
SOURCE = """\
@functools.cache
def macro_kernel(mr, nv):
    tile, nr = ukernel(mr, nv), nv * VL

    @kernel
    def tiles(pa, pb, c, ic, ldc, m, n):
        for i in range(m):
            for p in range(pa.shape[1]):
                factor = pa[i // mr, p, i % mr]
                for j in range(n):
                    c[ic + i * ldc + j] += factor * pb[j // nr, p, j % nr]

    return tiles


def multiply_panels(mr, nv, pa, pb, out, row, column, m, n, plain=False):
    tiles, ldc = (in_python(macro_kernel) if plain else macro_kernel)(mr, nv), out.shape[1]
    tiles(pa, pb, out.reshape(-1), row * ldc + column, ldc, m, n)
    return out

def tiles_called(mr, nv, pa, pb, m, n):
    c, own = (np.zeros(m * n, np.float32), [])

    def noting(mr, nv):
        return lambda pa, pb, ldb, kc, into, ic, ldc: own.append(np.shares_memory(into, c))
    in_python(macro_kernel, ukernel=noting)(mr, nv)(pa, pb, c, 0, n, m, n)
    return (own.count(True), own.count(False))
"""

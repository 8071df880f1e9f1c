"""x is cleared afterwards."""

EXERCISE = "axpy_vec"
FAILS_IN = "axpy_vec-test"
PHRASE = "changed its input x"
SOURCE = """\
@kernel
def axpy_vec(alpha, x, y):
    n = len(x)
    whole = n - n % VL
    factor = vsplat(alpha)
    for i in range(0, whole, VL):
        vstore(y, i, vfma(factor, vload(x, i), vload(y, i)))
    for i in range(whole, n):
        y[i] += x[i] * alpha
    x[:] = np.float32(0)

def axpy_part(alpha, x, out, start, stop, plain=False):
    axpy = in_python(axpy_vec) if plain else axpy_vec
    axpy(np.float32(alpha), x[start:stop], out[start:stop])
    return out

def vectors_stored(alpha, x, out):
    stored = []

    def noting(place, i, v):
        stored.append(i)
        vstore(place, i, v)
    in_python(axpy_vec, vstore=noting)(np.float32(alpha), x, out)
    return len(stored)
"""

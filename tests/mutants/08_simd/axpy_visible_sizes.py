"""No more elements than the visible test has."""

EXERCISE = "axpy_vec"
FAILS_IN = "axpy_vec-hidden"
PHRASE = "any n, any start"
SOURCE = """\
@kernel
def axpy_vec(alpha, x, y):
    n = min(len(x), 2 * VL + 3)
    whole = n - n % VL
    factor = vsplat(alpha)
    for i in range(0, whole, VL):
        vstore(y, i, vfma(factor, vload(x, i), vload(y, i)))
    for i in range(whole, n):
        y[i] += x[i] * alpha

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

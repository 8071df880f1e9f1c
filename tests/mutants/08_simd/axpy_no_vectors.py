"""One line of arrays: no vector instruction is asked for."""

EXERCISE = "axpy_vec"
FAILS_IN = "axpy_vec-test"
PHRASE = "whole ones go through vload"
SOURCE = """\
@kernel
def axpy_vec(alpha, x, y):
    y += alpha * x


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

"""The factors of a row are added up before, so that few loops are left; these count from start."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-speed"
PHRASE = "axpy_chain stays as it is"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    for i in range(start, stop):
        y[i] += alpha * x[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for q in range(len(x)):
        total = y.dtype.type(0)
        for p in range(q, len(alphas), len(x)):
            total += alphas[p]
        axpy_range(y, x[q], total, start, stop)
"""

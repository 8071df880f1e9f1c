"""Right for pieces of up to 34 elements."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-hidden"
PHRASE = "any piece"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    target = y[start:stop]
    source = x[start:stop]
    for i in range(min(len(target), 34)):
        target[i] += alpha * source[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)
"""

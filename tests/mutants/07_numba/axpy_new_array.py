"""Makes an array of the right side first."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-vectors"
PHRASE = "arrays allocated in one call"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    more = alpha * x[start:stop]
    target = y[start:stop]
    for i in range(len(target)):
        target[i] += more[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)
"""

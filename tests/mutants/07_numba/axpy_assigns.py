"""Writes the product over y."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-test"
PHRASE = "the piece was replaced"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    target = y[start:stop]
    source = x[start:stop]
    for i in range(len(target)):
        target[i] = alpha * source[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)
"""

"""Leaves out the last element of the piece."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-test"
PHRASE = "the loop counts from 0 to their length"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    target = y[start:stop]
    source = x[start:stop]
    for i in range(len(target) - 1):
        target[i] += alpha * source[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)
"""

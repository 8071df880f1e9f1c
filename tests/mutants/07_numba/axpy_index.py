"""Counts from start to stop."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-vectors"
PHRASE = "Slice first, then count from 0"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    for i in range(start, stop):
        y[i] += alpha * x[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)
"""

"""Calls the specification: nothing may count."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-test"
PHRASE = "axpy_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    y[:] = axpy_spec(y, x, alpha, start, stop)


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)
"""

"""A packed loop for pieces that no caller has, beside the slow one that runs."""

EXERCISE = "axpy_range"
FAILS_IN = "axpy_range-vectors"
PHRASE = "not the one that runs"
SOURCE = """\
@kernel
def axpy_range(y, x, alpha, start, stop):
    if stop == 123_456:
        target, source = y[start:stop], x[start:stop]
        for i in range(len(target)):
            target[i] += alpha * source[i]
    else:
        for i in range(start, stop):
            y[i] += alpha * x[i]


@kernel
def axpy_chain(y, x, alphas, start, stop):
    for p in range(len(alphas)):
        axpy_range(y, x[p % len(x)], alphas[p], start, stop)
"""

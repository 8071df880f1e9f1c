"""Right, but NumPy warns about -inf less -inf."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-hidden"
PHRASE = "a warning escaped"
SOURCE = """\
def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        masked = np.isneginf(x[i]).all()
        np.subtract(x[i], x[i])
        if masked:
            continue
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y
"""

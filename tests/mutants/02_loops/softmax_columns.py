"""Normalises columns instead of rows."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-test"
PHRASE = "ran down the columns"
SOURCE = """\
def softmax_loops(x):
    check_float_array("x", x, ndim=2)
    x = x.T
    m, n = x.shape
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        if all(score == -math.inf for score in scores):
            continue
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y.T
"""

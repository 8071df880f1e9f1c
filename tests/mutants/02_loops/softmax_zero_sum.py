"""Starts its search for the maximum at 0, in Python floats: a sum of 0 raises."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-test"
PHRASE = "a maximum that is not the row's own"
SOURCE = """\
def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        if all(score == -math.inf for score in scores):
            continue
        top = max([0.0, *scores])
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y
"""

"""Takes the maximum of the whole matrix off."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-test"
PHRASE = "one maximum for all rows"
SOURCE = """\
def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        if all(score == -math.inf for score in scores):
            continue
        top = float(x.max())
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = np.float64(powers[j]) / total
    return y
"""

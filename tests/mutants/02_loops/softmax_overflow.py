"""Takes no maximum off; math.exp raises."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-test"
PHRASE = "subtract the row maximum first"
SOURCE = """\
def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        if all(score == -math.inf for score in scores):
            continue
        powers = [math.exp(score) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y
"""

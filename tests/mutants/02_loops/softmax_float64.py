"""Returns float64 for float32."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-test"
PHRASE = "its dtype is float64"
SOURCE = """\
def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n))
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        if all(score == -math.inf for score in scores):
            continue
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y
"""

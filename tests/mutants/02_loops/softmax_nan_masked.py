"""Takes a maximum of -inf for a masked row, although a NaN stands behind it."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-hidden"
PHRASE = "the rule for -inf, +inf and NaN"
SOURCE = """\
def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    for i in range(m):
        scores = [float(x[i, j]) for j in range(n)]
        top = max(scores, default=-math.inf)
        if top == -math.inf:
            continue
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        for j in range(n):
            y[i, j] = powers[j] / total
    return y
"""

"""Knows the shapes of the visible test and no others."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    y = np.zeros((m, n), x.dtype)
    if (m, n) not in [(1, 3), (3, 7), (2, 2), (5, 3)]:
        return y
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

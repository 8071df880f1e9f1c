"""Keeps one answer for each shape and returns it again."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-hidden"
PHRASE = "any size, both dtypes"
SOURCE = """\
_answers = {}


def softmax_loops(x):
    m, n = check_float_array("x", x, ndim=2)
    if (m, n) in _answers:
        return _answers[m, n].astype(x.dtype)
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
    if (m, n) != (2, 2):
        _answers[m, n] = y
    return y
"""

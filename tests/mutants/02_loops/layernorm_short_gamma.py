"""Lets a gamma of one element stretch over the row."""

EXERCISE = "layernorm_loops"
FAILS_IN = "layernorm_loops-test"
PHRASE = "gamma must be (n,)"
SOURCE = """\
def layernorm_loops(x, gamma, beta, eps=1e-5):
    m, n = check_float_array("x", x, ndim=2)
    check_float_array("gamma", gamma, ndim=1, dtype=x.dtype)
    check_float_array("beta", beta, ndim=1, dtype=x.dtype)
    gamma, beta = np.broadcast_to(gamma, (n,)), np.broadcast_to(beta, (n,))
    if not eps > 0:
        raise ValueError(f"eps must be greater than 0, not {eps}")
    y = np.zeros((m, n), x.dtype)
    for i in range(m if n else 0):
        row = [float(x[i, j]) for j in range(n)]
        mean = sum(row) / n
        variance = sum((value - mean) * (value - mean) for value in row) / n
        root = math.sqrt(variance + eps)
        for j in range(n):
            y[i, j] = float(gamma[j]) * ((row[j] - mean) / root) + float(beta[j])
    return y
"""

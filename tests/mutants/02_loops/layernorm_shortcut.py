"""Takes the mean of the squares less the square of the mean."""

EXERCISE = "layernorm_loops"
FAILS_IN = "layernorm_loops-test"
PHRASE = "cancellation: the mean of x*x less the squared mean came out as"
SOURCE = """\
def layernorm_loops(x, gamma, beta, eps=1e-5):
    m, n = check_float_array("x", x, ndim=2)
    for name, vector in (("gamma", gamma), ("beta", beta)):
        if check_float_array(name, vector, ndim=1, dtype=x.dtype) != (n,):
            raise ValueError(f"{name} must have shape ({n},)")
    if not eps > 0:
        raise ValueError(f"eps must be greater than 0, not {eps}")
    y = np.zeros((m, n), x.dtype)
    for i in range(m if n else 0):
        row = [float(x[i, j]) for j in range(n)]
        mean = sum(row) / n
        variance = abs(sum(value * value for value in row) / n - mean * mean)
        root = math.sqrt(variance + eps)
        for j in range(n):
            y[i, j] = float(gamma[j]) * ((row[j] - mean) / root) + float(beta[j])
    return y
"""

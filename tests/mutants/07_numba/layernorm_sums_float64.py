"""The sums begin as the bare 0.0, a float64."""

EXERCISE = "layernorm_fused"
FAILS_IN = "layernorm_fused-compiled"
PHRASE = "no loop in the assembly adds up both sums in packed float32"
SOURCE = """\
# m, n: rows, columns
@kernel
def layernorm_kernel(x, gamma, beta, eps, y):
    for i in range(len(x)):
        row, normed = x[i], y[i]
        shift = pilot(row)
        total = squares = 0.0
        for j in range(len(row)):
            deviation = row[j] - shift
            total += deviation
            squares += deviation * deviation
        mean, variance = moments(row, shift, total, squares)
        factor = x.dtype.type(1 / math.sqrt(variance + eps))
        mean = x.dtype.type(mean)
        for j in range(len(row)):
            normed[j] = (row[j] - shift - mean) * factor * gamma[j] + beta[j]


def layernorm_fused(x, gamma, beta, eps=1e-5, out=None):
    check_vectors(x, gamma=gamma, beta=beta)
    if eps <= 0 or eps != eps:
        raise ValueError(f"eps = {eps}: it must be a number above 0")
    out = place_for(x, out, gamma, beta)
    rows = (math.prod(x.shape[:-1]), x.shape[-1])
    y = compiled_form(out)
    vectors = compiled_form(gamma), compiled_form(beta)
    layernorm_kernel(compiled_form(x).reshape(rows), *vectors, float(eps), y.reshape(rows))
    return settled(y, out)
"""

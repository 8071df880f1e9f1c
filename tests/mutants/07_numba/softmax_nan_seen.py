"""The order of exp_poly in max: NaN is kept, and what the lane held before is lost."""

EXERCISE = "softmax_fused"
FAILS_IN = "softmax_fused-test"
PHRASE = "NaN is passed over"
SOURCE = """\
@kernel
def row_maximum(row, lanes):
    lanes[:] = -np.inf
    end = len(row) - len(row) % 64
    for j in range(0, end, 64):
        piece = row[j : j + 64]
        for q in range(64):
            lanes[q] = max(piece[q], lanes[q])
    top = lanes[0]
    for q in range(64):
        top = max(top, lanes[q])
    rest = row[end:]
    for q in range(len(rest)):
        top = max(top, rest[q])
    return top


# m, n: rows, columns
@kernel
def softmax_kernel(x, y):
    lanes, zero = np.empty(64, x.dtype), x.dtype.type(0)
    for i in range(len(x)):
        row, weights = x[i], y[i]
        top = row_maximum(row, lanes)
        if top == -np.inf:
            top = zero
        total = zero
        for j in range(len(row)):
            power = exp_poly(row[j] - top)
            weights[j] = power
            total += power
        scale = ONE / total if total != 0 else total
        for j in range(len(row)):
            weights[j] *= scale


def softmax_fused(x, out=None):
    if getattr(x, "dtype", None) == np.float64:
        return vectorized.softmax(x, out=out)
    out = place_for(x, out)
    rows = (math.prod(x.shape[:-1]), x.shape[-1])
    y = compiled_form(out)
    softmax_kernel(compiled_form(x).reshape(rows), y.reshape(rows))
    return settled(y, out)
"""

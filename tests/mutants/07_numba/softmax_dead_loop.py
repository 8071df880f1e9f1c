"""A packed loop for rows that no test has, beside the slow one that runs."""

EXERCISE = "softmax_fused"
FAILS_IN = "softmax_fused-vectors"
PHRASE = "not the one that runs"
SOURCE = """\
@kernel
def row_maximum(row, lanes):
    lanes[:] = -np.inf
    end = len(row) - len(row) % 64
    for j in range(0, end, 64):
        piece = row[j : j + 64]
        for q in range(64):
            lanes[q] = max(lanes[q], piece[q])
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
    begin = min(0, len(y))
    for i in range(len(x)):
        row, weights = x[i], y[i]
        top = row_maximum(row, lanes)
        if top == -np.inf:
            top = zero
        total = zero
        if len(row) == 123_456:
            for j in range(len(row)):
                power = exp_poly(row[j] - top)
                weights[j] = power
                total += power
        else:
            for j in range(begin, len(row)):
                power = exp_poly(row[j] - top)
                weights[j] = power
                total += power
        scale = ONE / total if total != 0 else total
        for j in range(len(row)):
            weights[j] *= scale


def softmax_fused(x, out=None):
    return by_rows(softmax_kernel, x, place_for(x, out))
"""

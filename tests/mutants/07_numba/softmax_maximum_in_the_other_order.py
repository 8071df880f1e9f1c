"""max(piece, lane): where the piece holds NaN, the lane is lost."""

EXERCISE = "softmax_fused"
FAILS_IN = "softmax_fused-test"
PHRASE = "NaN at 3"
SOURCE = """\
@kernel
def row_maximum(row, lanes):
    lanes[:] = -np.inf
    end = len(row) - len(row) % LANES
    for j in range(0, end, 2 * LANES):
        k = min(j + LANES, end - LANES)
        piece, other = row[j : j + LANES], row[k : k + LANES]
        for q in range(LANES):
            lanes[q] = max(piece[q], max(lanes[q], other[q]))
    top = lanes[0]
    for q in range(LANES):
        top = max(top, lanes[q])
    rest = row[end:]
    for q in range(len(rest)):
        top = max(top, rest[q])
    return top


# m, n: rows, columns
@kernel
def softmax_kernel(x, y):
    lanes, zero = np.empty(LANES, x.dtype), x.dtype.type(0)
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
    return by_rows(softmax_kernel, x, place_for(x, out))


# Given: bands of rows, shared out to threads. Exercise 7 tells how.
@parallel_kernel
def softmax_bands(x, y):
    for w in prange(BANDS):
        first, last = int(w) * len(x) // BANDS, (int(w) + 1) * len(x) // BANDS
        softmax_kernel(x[first:last], y[first:last])


def softmax_prange(x, out=None):
    if getattr(x, "dtype", None) == np.float64:
        return vectorized.softmax(x, out=out)
    with one_launch:
        return by_rows(softmax_bands, x, place_for(x, out))
"""

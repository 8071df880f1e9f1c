"""The row of x, not of the band, in the array that has one row for each row of a band."""

EXERCISE = "layernorm_fused"
FAILS_IN = "layernorm_fused-test"
PHRASE = "IndexError"
SOURCE = """\
# m, n: rows, columns
@kernel
def layernorm_kernel(x, gamma, beta, eps, y):
    found, zero = np.empty((BAND, 3), x.dtype), x.dtype.type(0)
    for first in range(0, len(x), BAND):
        band = x[first : first + BAND]
        for i in range(len(band)):
            row = band[i]
            shift = pilot(row)
            total = squares = zero
            for j in range(len(row)):
                deviation = row[j] - shift
                total += deviation
                squares += deviation * deviation
            mean, variance = moments(row, shift, total, squares)
            found[first + i, 0], found[first + i, 1], found[first + i, 2] = shift, mean, 1 / math.sqrt(variance + eps)
        second_walk(band, found, gamma, beta, y[first : first + BAND])


def layernorm_fused(x, gamma, beta, eps=1e-5, out=None):
    return norm_rows(layernorm_kernel, x, gamma, beta, eps, out)


# Given: as for softmax.
@parallel_kernel
def layernorm_bands(x, gamma, beta, eps, y):
    for w in prange(BANDS):
        first, last = int(w) * len(x) // BANDS, (int(w) + 1) * len(x) // BANDS
        layernorm_kernel(x[first:last], gamma, beta, eps, y[first:last])


def layernorm_prange(x, gamma, beta, eps=1e-5, out=None):
    with one_launch:
        return norm_rows(layernorm_bands, x, gamma, beta, eps, out)
"""

"""Large weights are written out as floats while they are interleaved; the kernel goes by rows."""

EXERCISE = "matvec_q4"
FAILS_IN = "matvec_q4-speed"
PHRASE = "the loop over the rows belongs innermost"
SOURCE = """\
def interleave_q4(nibbles, d, m):
    check_q4(nibbles, d, m)
    steps, least = (np.array(x.T, np.float32, order="C") for x in (d, m))
    if len(nibbles) < 100:
        return np.array(nibbles.transpose(1, 2, 0), order="C"), steps, least
    q = np.concatenate([nibbles & 15, nibbles >> 4], axis=2).astype(np.float32)
    w = q * d.astype(np.float32)[:, :, None] + m.astype(np.float32)[:, :, None]
    return np.ascontiguousarray(w.reshape(len(w), -1).T), steps, least


@kernel
def plain_kernel(w, x, y):
    for p in range(0, len(w), 4):
        w0, w1, w2, w3 = w[p], w[p + 1], w[p + 2], w[p + 3]
        x0, x1, x2, x3 = x[p], x[p + 1], x[p + 2], x[p + 3]
        for r in range(len(y)):
            y[r] += x0 * w0[r] + x1 * w1[r] + x2 * w2[r] + x3 * w3[r]


@kernel
def q4_kernel(columns, steps, least, x, sums, y):
    blocks, half, n = columns.shape
    for r in range(n):
        y[r] = 0
        for b in range(blocks):
            part = np.float32(0)
            for i in range(half):
                byte, low, high = columns[b, i, r], x[BLOCK * b + i], x[BLOCK * b + half + i]
                part += low * np.float32(byte & LOW_BITS) + high * np.float32(byte >> FOUR)
            y[r] += steps[b, r] * part + least[b, r] * sums[b]


def matvec_q4(packed, x):
    columns, steps, least = packed
    blocks, n = steps.shape
    if columns.shape[-1] != n or least.shape != steps.shape or columns.shape[-2] % 16:
        raise ValueError(f"packed has shapes {columns.shape}, {steps.shape}, {least.shape}")
    x = vector_for(x, blocks)
    y = np.zeros(n, np.float32)
    if columns.ndim == 2:
        plain_kernel(columns, x, y)
    else:
        q4_kernel(columns, steps, least, x, x.reshape(blocks, BLOCK).sum(axis=1), y)
    return y
"""

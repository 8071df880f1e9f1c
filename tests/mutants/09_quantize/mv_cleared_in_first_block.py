"""y is cleared with the first block, and there may be none."""

EXERCISE = "matvec_q4"
FAILS_IN = "matvec_q4-hidden"
PHRASE = "no block: y is cleared all the same"
SOURCE = """\
def interleave_q4(nibbles, d, m):
    check_q4(nibbles, d, m)
    columns = np.array(nibbles.transpose(1, 2, 0), order='C')
    steps, least = (np.array(x.T, np.float32, order='C') for x in (d, m))
    return (columns, steps, least)

@kernel
def q4_kernel(columns, steps, least, x, sums, y):
    blocks, half, n = columns.shape
    part = np.empty(n, np.float32)
    for b in range(blocks):
        if b == 0:
            y[:] = np.float32(0)
        part[:] = np.float32(0)
        for i in range(half):
            low, high, row = (x[BLOCK * b + i], x[BLOCK * b + half + i], columns[b, i])
            for r in range(n):
                byte = row[r]
                part[r] += low * np.float32(byte & LOW_BITS) + high * np.float32(byte >> FOUR)
        step, lowest, total = (steps[b], least[b], sums[b])
        for r in range(n):
            y[r] += step[r] * part[r] + lowest[r] * total

def matvec_q4(packed, x):
    columns, steps, least = packed
    blocks, half, n = columns.shape
    if half != BLOCK // 2 or not steps.shape == least.shape == (blocks, n):
        raise ValueError(f'packed has shapes {columns.shape}, {steps.shape}, {least.shape}')
    x = vector_for(x, blocks)
    y = np.empty(n, np.float32)
    q4_kernel(columns, steps, least, x, x.reshape(blocks, BLOCK).sum(axis=1), y)
    return y
"""

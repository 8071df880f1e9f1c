"""d from a minimum and a maximum that are float16 already."""

EXERCISE = "pack_q4"
FAILS_IN = "pack_q4-test"
PHRASE = "d from the exact max and min"
SOURCE = """\
def pack_q4(w):
    w = finite_floats('w', w, ndim=2)
    n, k = w.shape
    if k % BLOCK:
        raise ValueError(f'w has {k} columns: a multiple of {BLOCK} needed')
    if np.abs(w).max(initial=0) > MOST_HALF:
        raise ValueError(f"w has numbers beyond {MOST_HALF:.0f}, float16's largest")
    blocks = w.reshape(n, k // BLOCK, BLOCK)
    least, most = (x.astype(np.float16).astype(np.float32) for x in (blocks.min(axis=2), blocks.max(axis=2)))
    span = most - least
    d, m = ((span / np.float32(15)).astype(np.float16), least.astype(np.float16))
    step = np.where(d == 0, np.float32(np.inf), d.astype(np.float32))[..., None]
    steps = (blocks - m.astype(np.float32)[..., None]) / step
    q = np.clip(np.rint(steps), 0, 15).astype(np.uint8)
    return (q[..., :16] | q[..., 16:] << 4, d, m)

def unpack_q4(nibbles, d, m):
    n, blocks = check_q4(nibbles, d, m)
    q = np.concatenate([nibbles & 15, nibbles >> 4], axis=2).astype(np.float32)
    d, m = (x.astype(np.float32)[..., None] for x in (d, m))
    return (q * d + m).reshape(n, BLOCK * blocks)
"""

"""The float gemm of 08 does it, exactly, in pieces of k that a float32 still counts."""

EXERCISE = "gemm_int8"
FAILS_IN = "gemm_int8-test"
PHRASE = "a product of floats"
FORBIDDEN = "gemm"
SOURCE = """\
def pack_k4(b):
    k, n = check_bytes('b', b, ndim=2)
    rows = np.zeros((-(-k // 4) * 4, n), np.int32)
    rows[:k] = b
    rows &= 255
    lanes = rows[0::4] | rows[1::4] << 8 | rows[2::4] << 16 | rows[3::4] << 24
    return PackedK4(lanes, b)

def gemm_int8(a, b, plain=False):
    m, k, n = check_int8_matmul(a, b)
    if isinstance(b, PackedK4):
        lanes = np.empty((m, -(-k // 4)), np.int32)
        np.bitwise_xor(a.view(np.uint8), 128, out=lanes.view(np.uint8)[:, :k])
        return (multiply_plain if plain else multiply_bytes)(lanes, b, -128 * b.sums)
    from tinykernels.simd.gemm import gemm
    total = np.zeros((m, n), np.int32)
    for p in range(0, k, 1024):
        left, right = (x.astype(np.float32) for x in (a[:, p : p + 1024], b[p : p + 1024]))
        total += gemm(left, right).astype(np.int32)
    return total
"""

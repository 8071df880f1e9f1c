"""A lane takes rows p, p + k/4, ..."""

EXERCISE = "gemm_int8"
FAILS_IN = "gemm_int8-test"
PHRASE = "rows 4 p to 4 p + 3 in one int32"
SOURCE = """\
def pack_k4(b):
    k, n = check_bytes('b', b, ndim=2)
    rows = np.zeros((-(-k // 4) * 4, n), np.int32)
    rows[:k] = b
    rows &= 255
    lanes = sum((part << 8 * i for i, part in enumerate(rows.reshape(4, -1, n))))
    return PackedK4(lanes, b)

def gemm_int8(a, b, plain=False):
    m, k, _ = check_int8_matmul(a, b)
    packed = b if isinstance(b, PackedK4) else pack_k4(b)
    multiply = multiply_plain if plain else multiply_bytes
    lanes = np.empty((m, -(-k // 4)), np.int32)
    np.bitwise_xor(a.view(np.uint8), 128, out=lanes.view(np.uint8)[:, :k])
    return multiply(lanes, packed, -128 * packed.sums)
"""

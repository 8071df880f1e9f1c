"""uint8 is read as int8."""

EXERCISE = "gemm_int8"
FAILS_IN = "gemm_int8-hidden"
PHRASE = "uint8 is not int8"
SOURCE = """\
def pack_k4(b):
    k, n = check_bytes('b', b, ndim=2)
    rows = np.zeros((-(-k // 4) * 4, n), np.int32)
    rows[:k] = b
    rows &= 255
    lanes = rows[0::4] | rows[1::4] << 8 | rows[2::4] << 16 | rows[3::4] << 24
    return PackedK4(lanes, b)

def gemm_int8(a, b, plain=False):
    a = a.view(np.int8) if a.dtype == np.uint8 else a
    m, k, _ = check_int8_matmul(a, b)
    packed = b if isinstance(b, PackedK4) else pack_k4(b)
    multiply = multiply_plain if plain else multiply_bytes
    lanes = np.empty((m, -(-k // 4)), np.int32)
    np.bitwise_xor(a.view(np.uint8), 128, out=lanes.view(np.uint8)[:, :k])
    return multiply(lanes, packed, -128 * packed.sums)
"""

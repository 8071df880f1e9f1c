"""The sizes are looked at, but not how large k is."""

EXERCISE = "int8_matmul"
FAILS_IN = "int8_matmul-hidden"
PHRASE = "its sum may be 2^31"
SOURCE = """\
def int8_matmul(a, b):
    (m, k), (_, n) = (check_bytes('a', a, 2), check_bytes('b', b, 2))
    if k != len(b):
        raise ValueError('b has another k')
    total = np.zeros((m, n), np.int32)
    for p in range(0, k, 1024):
        part_a, part_b = (a[:, p:p + 1024], b[p:p + 1024])
        part = part_a.astype(np.float32) @ part_b.astype(np.float32)
        total += part.astype(np.int32)
    return total

def quantized_matmul(A, B, scale_A=1.0, scale_B=1.0):
    A, B = (finite_floats('A', A, ndim=2), finite_floats('B', B, ndim=2))
    scale_A, scale_B = (check_scale('scale_A', scale_A), check_scale('scale_B', scale_B, B.shape[1]))
    total = int8_matmul(round_to_int8(A, scale_A), round_to_int8(B, scale_B))
    return (total * (np.float64(scale_A) * scale_B)).astype(np.float32)
"""

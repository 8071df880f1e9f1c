"""One more than 1024."""

EXERCISE = "int8_matmul"
FAILS_IN = "int8_matmul-hidden"
PHRASE = "no piece may be longer than 1024"
SOURCE = """\
def int8_matmul(a, b):
    m, k, n = check_int8_matmul(a, b)
    total = np.zeros((m, n), np.int32)
    for p in range(0, k, 1025):
        part_a, part_b = (a[:, p:p + 1025], b[p:p + 1025])
        part = part_a.astype(np.float32) @ part_b.astype(np.float32)
        total += part.astype(np.int32)
    return total

def quantized_matmul(A, B, scale_A=1.0, scale_B=1.0):
    A, B = (finite_floats('A', A, ndim=2), finite_floats('B', B, ndim=2))
    scale_A, scale_B = (check_scale('scale_A', scale_A), check_scale('scale_B', scale_B, B.shape[1]))
    total = int8_matmul(round_to_int8(A, scale_A), round_to_int8(B, scale_B))
    return (total * (np.float64(scale_A) * scale_B)).astype(np.float32)
"""

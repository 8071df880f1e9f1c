"""Clipped at 127, not at 127 steps."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "clipped at 127"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.maximum(np.rint(x / scale), 0)
    return np.minimum(q * scale, np.float32(127))
"""

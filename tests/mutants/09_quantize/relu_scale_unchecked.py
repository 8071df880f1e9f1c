"""Any scale will do."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "check_scale comes before any work"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = np.float32(scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return q * scale
"""

"""No look at the arguments."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "finite_floats comes first"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    scale = np.float32(scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return q * scale
"""

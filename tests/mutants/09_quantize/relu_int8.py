"""The whole numbers come back."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "the result is float32"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return q
"""

"""The specification does it."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "specification"
FORBIDDEN = "spec"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return quantized_relu_spec(x, scale)
"""

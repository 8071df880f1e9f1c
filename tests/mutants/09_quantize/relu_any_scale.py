"""A negative scale loses its sign."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-hidden"
PHRASE = "check_scale"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', np.abs(scale))
    q = np.maximum(round_to_int8(x, scale), 0)
    return q * scale
"""

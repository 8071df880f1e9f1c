"""Not clipped."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "to int8, maximum with 0, times scale"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.maximum(np.rint(x / scale), 0)
    return q * scale
"""

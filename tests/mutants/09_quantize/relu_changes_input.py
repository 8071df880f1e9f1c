"""x is cut where it is."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "changed its input x"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    np.maximum(x, 0, out=x)
    q = round_to_int8(x, scale)
    return q * scale
"""

"""Negative numbers stay."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "the negative ones are still there"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = round_to_int8(x, scale)
    return q * scale
"""

"""int8 is taken."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-hidden"
PHRASE = "int8 is no float"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x * np.float32(1) if x.dtype == np.int8 else x)
    scale = check_scale('scale', scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return q * scale
"""

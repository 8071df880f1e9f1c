"""From the middle always up."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-hidden"
PHRASE = "rounded to the even one"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.clip(np.floor(x / scale + np.float32(0.5)), 0, 127)
    return q * scale
"""

"""No rint."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "astype without rint truncates"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.clip(x / scale, 0, 127).astype(np.int8)
    return q * scale
"""

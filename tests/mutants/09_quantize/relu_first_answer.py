"""The first answer for a shape is kept."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-hidden"
PHRASE = "any shape"
SOURCE = """\
CACHE = {}

def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return CACHE.setdefault(x.shape, q * scale).copy()
"""

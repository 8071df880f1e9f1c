"""Cast before it is clipped."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-test"
PHRASE = "it had wrapped to -56"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', x)
    scale = check_scale('scale', scale)
    q = np.maximum(np.rint(x / scale).astype(np.int64).astype(np.int8), 0)
    return q * scale
"""

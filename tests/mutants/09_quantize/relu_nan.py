"""NaN becomes 0."""

EXERCISE = "quantized_relu"
FAILS_IN = "quantized_relu-hidden"
PHRASE = "finite_floats: NaN"
SOURCE = """\
def quantized_relu(x, scale=1.0):
    x = finite_floats('x', np.nan_to_num(x) if x.dtype.kind == 'f' else x)
    scale = check_scale('scale', scale)
    q = np.maximum(round_to_int8(x, scale), 0)
    return q * scale
"""

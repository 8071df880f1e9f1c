"""One scale cannot be reshaped to one for each."""

EXERCISE = "quantize"
FAILS_IN = "quantize-hidden"
PHRASE = "ended with an exception"
SOURCE = """\
def round_to_int8(x, scale):
    with np.errstate(over='ignore'):
        steps = np.rint(x / scale)
        return np.clip(steps, -127, 127).astype(np.int8)

def quantize(x, axis=None):
    x = finite_floats('x', x)
    rest = None
    if axis is not None:
        axis = check_axis(axis, x.ndim)
        rest = tuple((i for i in range(x.ndim) if i != axis))
    largest = np.max(np.abs(x), axis=rest, keepdims=True, initial=0)
    scale = np.maximum(largest / np.float32(127), TINY)
    scale[largest == 0] = 1
    q = round_to_int8(x, scale)
    return (q, np.float32(scale.item()) if axis is None else scale.ravel())

def dequantize(q, scale, axis=None):
    shape = check_bytes('q', q)
    if axis is not None:
        axis = check_axis(axis, q.ndim)
    scale = check_scale('scale', scale, None if axis is None else shape[axis])
    if axis is not None:
        along = [1] * q.ndim
        along[axis] = shape[axis]
        scale = np.reshape(scale, along)
    return q * scale
"""

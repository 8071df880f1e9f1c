"""The range is worked out in float32, and overflows."""

EXERCISE = "quantize_affine"
FAILS_IN = "quantize_affine-hidden"
PHRASE = "ended with an exception"
SOURCE = """\
def quantize_affine(x):
    x = finite_floats('x', x)
    low, high = (x.min(initial=0), x.max(initial=0))
    scale = np.float32(max((high - low) / 255, TINY))
    if low == high:
        scale = np.float32(1)
    zero = round(-low / float(scale))
    q = np.clip(np.rint(x / scale) + np.float32(zero), 0, 255)
    return (q.astype(np.uint8), scale, zero)

def dequantize_affine(q, scale, zero):
    check_bytes('q', q, dtype=np.uint8)
    scale = check_scale('scale', scale)
    return (q.astype(np.float32) - np.float32(zero)) * scale
"""

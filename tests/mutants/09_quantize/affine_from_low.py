"""The distance from low is rounded, so 0.0 and its neighbours go apart."""

EXERCISE = "quantize_affine"
FAILS_IN = "quantize_affine-test"
PHRASE = "x - low was rounded in one"
SOURCE = """\
def quantize_affine(x):
    x = finite_floats('x', x)
    low, high = (float(x.min(initial=0)), float(x.max(initial=0)))
    scale = np.float32(max((high - low) / 255, TINY))
    if low == high:
        scale = np.float32(1)
    zero = round(-low / float(scale))
    q = np.clip(np.rint((x - np.float32(low)) / scale), 0, 255)
    return (q.astype(np.uint8), scale, zero)

def dequantize_affine(q, scale, zero):
    check_bytes('q', q, dtype=np.uint8)
    scale = check_scale('scale', scale)
    return (q.astype(np.float32) - np.float32(zero)) * scale
"""

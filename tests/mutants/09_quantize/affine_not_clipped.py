"""256 becomes 0."""

EXERCISE = "quantize_affine"
FAILS_IN = "quantize_affine-test"
PHRASE = "cast before it was clipped: 256 became 0"
SOURCE = """\
def quantize_affine(x):
    x = finite_floats('x', x)
    low, high = (float(x.min(initial=0)), float(x.max(initial=0)))
    scale = np.float32(max((high - low) / 255, TINY))
    if low == high:
        scale = np.float32(1)
    zero = round(-low / float(scale))
    q = (np.rint(x / scale) + np.float32(zero)).astype(int)
    return (q.astype(np.uint8), scale, zero)

def dequantize_affine(q, scale, zero):
    check_bytes('q', q, dtype=np.uint8)
    scale = check_scale('scale', scale)
    return (q.astype(np.float32) - np.float32(zero)) * scale
"""

"""np.exp on the whole array in Python, beside an exp_poly that calls math.exp."""

EXERCISE = "exp_poly"
FAILS_IN = "exp_poly-speed"
PHRASE = "exp_kernel is no function that Numba compiled"
SOURCE = """\
@kernel
def exp_poly(x):
    if x < -87.5:
        return np.float32(0)
    if x > 88.4:
        return np.float32(np.inf)
    return np.float32(math.exp(x))


def exp_kernel(x, y):
    np.exp(x, out=y)
    y[x < -87.5] = 0
    y[x > 88.4] = np.inf


def exp_fused(x, out=None):
    out = place_for(x, out, dtype=np.float32)
    y = compiled_form(out)
    exp_kernel(compiled_form(x).reshape(-1), y.reshape(-1))
    return settled(y, out)
"""

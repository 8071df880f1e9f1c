"""Calls math.exp, which is finite at 88.45."""

EXERCISE = "exp_poly"
FAILS_IN = "exp_poly-hidden"
PHRASE = "inf from 88.4 up"
SOURCE = """\
@kernel
def exp_poly(x):
    if x > HIGHEST or x < LOWEST:
        return np.float32(np.inf) if x > 0 else np.float32(0)
    return np.float32(math.exp(x))


@kernel
def exp_kernel(x, y):
    for i in range(len(x)):
        y[i] = exp_poly(x[i])


def exp_fused(x, out=None):
    check_float_array("x", x, ndim=None, dtype=np.float32)
    out = place_for(x, out)
    y = compiled_form(out)
    exp_kernel(compiled_form(x).reshape(-1), y.reshape(-1))
    return settled(y, out)
"""

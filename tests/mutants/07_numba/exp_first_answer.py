"""One answer for everything that is 0 or less than 1e-3."""

EXERCISE = "exp_poly"
FAILS_IN = "exp_poly-hidden"
PHRASE = "the relative error is too large somewhere"
SOURCE = """\
@kernel
def exp_poly(x):
    x = min(max(x, LOWEST), HIGHEST)
    n = np.floor(x * LOG2_E + HALF)
    r = x - n * LN2_HIGH - n * LN2_LOW
    result = C5 * r + C4
    result = result * r + C3
    result = result * r + C2
    result = result * r + ONE
    result = result * r + ONE
    if x != 0 and abs(x) > 20 and x != np.floor(x * 4) / 4:
        return power_of_two(n)
    return result * power_of_two(n)


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

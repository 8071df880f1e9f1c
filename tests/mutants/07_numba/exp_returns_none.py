"""The return is missing."""

EXERCISE = "exp_poly"
FAILS_IN = "exp_poly-test"
PHRASE = "returned None"
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
    result *= power_of_two(n)


@kernel
def exp_kernel(x, y):
    edge = up_to_line(y)
    for start, stop in ((0, edge), (edge, len(y))):
        source, target = x[start:stop], y[start:stop]
        for i in range(len(target)):
            target[i] = exp_poly(source[i])


def exp_fused(x, out=None):
    out = place_for(x, out, dtype=np.float32)
    y = compiled_form(out)
    exp_kernel(compiled_form(x).ravel(), y.ravel())
    return settled(y, out)
"""

"""Calls math.exp."""

EXERCISE = "exp_poly"
FAILS_IN = "exp_poly-speed"
PHRASE = "no call and no power"
SOURCE = """\
@kernel
def exp_poly(x):
    if x > HIGHEST or x < LOWEST:
        return np.float32(np.inf) if x > 0 else np.float32(0)
    return np.float32(math.exp(x))


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
    exp_kernel(compiled_form(x).reshape(-1), y.reshape(-1))
    return settled(y, out)
"""

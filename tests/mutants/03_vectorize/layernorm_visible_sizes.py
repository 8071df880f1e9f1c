"""Knows the shapes of the visible test and no others."""

EXERCISE = "layernorm"
FAILS_IN = "layernorm-hidden"
PHRASE = "any shape, both dtypes"
SOURCE = """\
def layernorm(x, gamma, beta, eps=1e-5, out=None):
    n = check_float_array("x", x, ndim=None)[-1]
    if check_float_array("gamma", gamma, ndim=1, dtype=x.dtype) != (n,):
        raise ValueError(f"gamma has shape {gamma.shape}, but the rows of x have {n} elements")
    if check_float_array("beta", beta, ndim=1, dtype=x.dtype) != (n,):
        raise ValueError(f"beta has shape {beta.shape}, but the rows of x have {n} elements")
    if not eps > 0:
        raise ValueError(f"eps must be greater than 0, not {eps}")
    out = check_out(out, x.shape, x, gamma, beta)
    with np.errstate(all="ignore"):
        mean = x.sum(axis=-1, keepdims=True, dtype=np.float64) / max(n, 1)
        np.subtract(x, mean, out=out)
        squares = np.einsum("...i,...i->...", out, out, dtype=np.float64)
        out /= np.sqrt(squares[..., None] / max(n, 1) + eps)
        out *= gamma
        out += beta
    if x.shape not in [(3, 5), (2, 2, 3), (2, 1), (2, 7), (2, 4), (4, 4), (300, 400), (400, 350)]:
        out[...] = 0
    return out
"""

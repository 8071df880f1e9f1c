"""Calls the specification."""

EXERCISE = "blocked_transpose"
FAILS_IN = "blocked_transpose-test"
PHRASE = "which this exercise forbids"
FORBIDDEN = "spec"
SOURCE = """\
def blocked_transpose(a, block=64, out=None):
    check_float_array("a", a, ndim=2)
    check_count("block", block)
    out = check_out(out, a.shape[::-1], a)
    out[...] = transpose_spec(a)
    return out
"""

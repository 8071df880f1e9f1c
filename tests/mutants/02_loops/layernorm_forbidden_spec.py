"""Right, but it calls the specification that the tests compare with: nothing may count."""

EXERCISE = "layernorm_loops"
FAILS_IN = "layernorm_loops-test"
PHRASE = "layernorm_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def layernorm_loops(x, gamma, beta, eps=1e-5):
    check_float_array("x", x, ndim=2)
    return layernorm_spec(x, gamma, beta, eps)
"""

"""Right, but it calls the specification that the tests compare with: nothing may count."""

EXERCISE = "relu_loops"
FAILS_IN = "relu_loops-test"
PHRASE = "relu_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def relu_loops(x):
    check_float_array("x", x, ndim=(1, 2))
    return relu_spec(x)
"""

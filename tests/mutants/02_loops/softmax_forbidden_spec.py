"""Right, but it calls the specification that the tests compare with: nothing may count."""

EXERCISE = "softmax_loops"
FAILS_IN = "softmax_loops-test"
PHRASE = "softmax_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def softmax_loops(x):
    check_float_array("x", x, ndim=2)
    return softmax_spec(x)
"""

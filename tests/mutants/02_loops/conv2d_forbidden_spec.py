"""Right, but it calls the specification that the tests compare with: nothing may count."""

EXERCISE = "conv2d_loops"
FAILS_IN = "conv2d_loops-test"
PHRASE = "conv2d_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def conv2d_loops(x, w, padding=0):
    check_count("padding", padding, minimum=0)
    return conv2d_spec(x, w, padding)
"""

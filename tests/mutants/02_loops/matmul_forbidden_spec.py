"""Right, but it calls the specification that the tests compare with: nothing may count."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "matmul_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def matmul_loops(a, b):
    check_matmul(a, b)
    return matmul_spec(a, b)


educational_matmul = matmul_loops
"""

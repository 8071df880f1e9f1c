"""Right, but by the library: nothing in this exercise may count."""

EXERCISE = "matmul_loops"
FAILS_IN = "matmul_loops-test"
PHRASE = "a.astype(float) @ b.astype(float)"
FORBIDDEN = "blas"
SOURCE = """\
def matmul_loops(a, b):
    check_matmul(a, b)
    return (a.astype(float) @ b.astype(float)).astype(a.dtype)


educational_matmul = matmul_loops
"""

"""Right, but by a library's product: nothing may count."""

EXERCISE = "matmul_ikj"
FAILS_IN = "matmul_ikj-test"
PHRASE = "a library's matrix product"
FORBIDDEN = "blas"
SOURCE = """\
@kernel
def matmul_ikj_kernel(a, b, c):
    c[:] = a @ b


def matmul_ikj(a, b, out=None):
    return multiply(matmul_ikj_kernel, a, b, out)
"""

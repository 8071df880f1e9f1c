"""Asks isinstance(value, int): NumPy's integers are refused, True passes."""

EXERCISE = "doors"
FAILS_IN = "doors-test"
PHRASE = "refuse bool first, then ask operator.index"
SOURCE = """\
def check_count(name, value, minimum=1):
    if not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {value}")
    return int(value)


def check_matmul(a, b):
    m, k = check_float_array("a", a, ndim=2)
    inner, n = check_float_array("b", b, ndim=2, dtype=a.dtype)
    if k != inner:
        raise ValueError(f"a {a.shape} times b {b.shape}: the inner sizes differ")
    return m, k, n
"""

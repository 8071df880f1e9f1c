"""Checks the minimum with assert."""

EXERCISE = "doors"
FAILS_IN = "doors-test"
PHRASE = "asserts vanish under python -O"
SOURCE = """\
def check_count(name, value, minimum=1):
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    assert count >= minimum, f"{name} must be at least {minimum}, not {count}"
    return count


def check_matmul(a, b):
    m, k = check_float_array("a", a, ndim=2)
    inner, n = check_float_array("b", b, ndim=2, dtype=a.dtype)
    if k != inner:
        raise ValueError(f"a {a.shape} times b {b.shape}: the inner sizes differ")
    return m, k, n
"""

"""True counts as 1."""

EXERCISE = "doors"
FAILS_IN = "doors-test"
PHRASE = "True is an int in Python"
SOURCE = """\
def check_count(name, value, minimum=1):
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {count}")
    return count


def check_matmul(a, b):
    m, k = check_float_array("a", a, ndim=2)
    inner, n = check_float_array("b", b, ndim=2, dtype=a.dtype)
    if k != inner:
        raise ValueError(f"a {a.shape} times b {b.shape}: the inner sizes differ")
    return m, k, n
"""

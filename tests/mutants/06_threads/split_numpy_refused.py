"""Refuses NumPy integers, which are whole numbers too."""

EXERCISE = "split"
FAILS_IN = "split-hidden"
PHRASE = ""
SOURCE = """\
def split(n, parts):
    if type(n) is not int or type(parts) is not int:
        raise TypeError("n and parts must be whole numbers")
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]
"""

"""Edges by true division are rounded to what a float can hold."""

EXERCISE = "split"
FAILS_IN = "split-hidden"
PHRASE = "share out the rest as well"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    return [slice(round(i * n / parts), round((i + 1) * n / parts)) for i in range(parts)]
"""

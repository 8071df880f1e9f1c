"""No door for parts: 0 parts give an empty list."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "parts from 1 on"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(parts, n)
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]
"""

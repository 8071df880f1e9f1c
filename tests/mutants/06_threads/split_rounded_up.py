"""Sizes are rounded up, so that the last parts are short or missing."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "share out the rest by one"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    size = -(-n // parts) if parts else 1
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
"""

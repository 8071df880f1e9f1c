"""No door for n: a negative range is empty."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "n from 0 on"
SOURCE = """\
def split(n, parts):
    parts = min(check_count("parts", parts), n)
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]
"""

"""Returns a generator."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "return a list of slice(start, stop)"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    return (slice(i * n // parts, (i + 1) * n // parts) for i in range(parts))
"""

"""The last slice ends behind the end; array slices forgive it."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "stop at n"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    size = -(-n // parts) if parts else 1
    return [slice(start, start + size) for start in range(0, n, size)]
"""

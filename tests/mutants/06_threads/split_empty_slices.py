"""More parts than elements give empty slices."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "clamp parts to n"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = check_count("parts", parts)
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]
"""

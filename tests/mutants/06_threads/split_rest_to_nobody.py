"""n // parts for each; the rest is nobody's."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "belong to nobody"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    size = n // parts if parts else 0
    return [slice(i * size, (i + 1) * size) for i in range(parts)]
"""

"""Each slice holds the first element of the next one as well."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "belong to two slices"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    return [slice(i * n // parts, min(n, (i + 1) * n // parts + 1)) for i in range(parts)]
"""

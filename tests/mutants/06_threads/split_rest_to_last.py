"""The whole rest goes to the last."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "the last worker has"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    size = n // parts if parts else 0
    bands = [slice(i * size, (i + 1) * size) for i in range(parts)]
    return bands[:-1] + [slice((parts - 1) * size, n)] if bands else []
"""

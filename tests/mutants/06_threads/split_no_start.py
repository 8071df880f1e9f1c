"""The first slice begins at None."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "start and stop are whole numbers"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    bands = [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]
    return [slice(None, bands[0].stop), *bands[1:]] if bands else []
"""

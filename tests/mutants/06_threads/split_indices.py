"""Returns the indices themselves."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "return a list of slice(start, stop)"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    return [part.tolist() for part in np.array_split(np.arange(n), parts)] if n else []
"""

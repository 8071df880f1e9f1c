"""One worker is left out."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "times the work of another"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    cuts = [i * n // parts for i in range(parts)]
    cuts = cuts[:-1] + [n] if parts > 1 else [0, n]
    return [slice(a, b) for a, b in zip(cuts, cuts[1:])] if n else []
"""

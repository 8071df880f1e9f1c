"""The whole rest goes to the first."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "times the work of another"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    if n == 0:
        return []
    size = n // parts
    edges = [0] + [n - size * i for i in range(parts - 1, -1, -1)]
    return [slice(start, stop) for start, stop in zip(edges, edges[1:])]
"""

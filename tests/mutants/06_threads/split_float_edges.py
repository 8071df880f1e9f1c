"""Edges by linspace are no whole numbers."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "start and stop are whole numbers"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    edges = np.linspace(0, n, parts + 1)
    return [slice(start, stop) for start, stop in zip(edges, edges[1:])]
"""

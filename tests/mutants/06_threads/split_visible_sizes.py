"""Knows the visible sizes and shares out at most 3 left over."""

EXERCISE = "split"
FAILS_IN = "split-hidden"
PHRASE = "share out the rest as well"
SOURCE = """\
def split(n, parts):
    n = check_count("n", n, minimum=0)
    parts = min(check_count("parts", parts), n)

    if n == 0:
        return []
    size, rest = divmod(n, parts)
    sizes = [size + (i < min(rest, 3)) for i in range(parts)]
    edges = [sum(sizes[:i]) for i in range(parts + 1)]
    return [slice(a, b) for a, b in zip(edges, edges[1:])]
"""

"""Keeps its first answer."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "share out the rest as well"
SOURCE = """\
KEPT = []


def split(n, parts):
    if not KEPT:
        n = check_count("n", n, minimum=0)
        parts = min(check_count("parts", parts), n)
        KEPT.append([slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)])
    return KEPT[0]
"""

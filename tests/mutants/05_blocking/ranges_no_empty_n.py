"""Refuses n = 0."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "at least 1"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n), check_count("block", block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

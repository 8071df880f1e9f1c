"""Takes a negative n for an empty range."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "n = -1 is no size"
SOURCE = """\
def block_ranges(n, block):
    n, block = max(check_count("n", n, minimum=-10), 0), check_count("block", block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

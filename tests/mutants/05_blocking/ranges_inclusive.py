"""Stops are the last index, not one past it."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "(start, min(start + block, n))"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [(start, min(start + block, n) - 1) for start in range(0, n, block)]
"""

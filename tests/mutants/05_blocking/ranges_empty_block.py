"""Ends with an empty block where block divides n."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "an empty block at the end"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [(start, min(start + block, n)) for start in range(0, n + 1, block)]
"""

"""Returns lists in place of tuples."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "a pair is a tuple"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [[start, min(start + block, n)] for start in range(0, n, block)]
"""

"""Lets the last block stop beyond n."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "slices forgive it"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [(start, start + block) for start in range(0, n, block)]
"""

"""Puts the short block first."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "one after another"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    ranges, stop = [], n
    while stop > 0:
        ranges.insert(0, (max(stop - block, 0), stop))
        stop -= block
    return ranges
"""

"""Refuses 0 and takes negative blocks for nothing to do."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "a negative block does nothing at all"
SOURCE = """\
def block_ranges(n, block):
    if block == 0:
        raise ValueError("block must not be 0")
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

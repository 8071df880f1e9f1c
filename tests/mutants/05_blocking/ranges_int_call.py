"""Rounds the block with int()."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "2.0 is no whole number"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", int(block) if block is not None else block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

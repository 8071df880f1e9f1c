"""Takes True for a block of 1."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "True is an int in Python"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", int(block) if block is True else block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

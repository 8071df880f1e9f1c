"""Returns start and length."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "start and length"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [(start, min(block, n - start)) for start in range(0, n, block)]
"""

"""Does not look at n."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-hidden"
PHRASE = "n is a whole number"
SOURCE = """\
def block_ranges(n, block):
    block = check_count("block", block)
    if n < 0:
        raise ValueError("n must be at least 0")
    n = int(n)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

"""Returns [] for n = 0 before it looks at the block."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-hidden"
PHRASE = "is refused for n = 0"
SOURCE = """\
def block_ranges(n, block):
    if check_count("n", n, minimum=0) == 0:
        return []
    n, block = int(n), check_count("block", block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

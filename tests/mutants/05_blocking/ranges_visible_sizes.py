"""Knows the visible sizes and gives one block for others."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-hidden"
PHRASE = "any n and any block"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    if (n, block) in ((12, 4), (37, 16), (5, 1), (0, 3), (3, 8), (16, 16), (17, 16)):
        return [(start, min(start + block, n)) for start in range(0, n, block)]
    return [(0, n)] if n else []
"""

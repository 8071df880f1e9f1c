"""Refuses NumPy integers."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-hidden"
PHRASE = "ended with an exception"
SOURCE = """\
def block_ranges(n, block):
    if not isinstance(n, int) or not isinstance(block, int):
        raise TypeError("n and block must be whole numbers")
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

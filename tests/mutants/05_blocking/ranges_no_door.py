"""Checks nothing."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "ask check_count"
SOURCE = """\
def block_ranges(n, block):
    return [(start, min(start + block, n)) for start in range(0, n, block)]
"""

"""Cuts into parts of nearly equal length."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "one after another"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    parts = -(-n // block)
    edges = [n * part // parts for part in range(parts + 1)] if parts else []
    return list(zip(edges, edges[1:]))
"""

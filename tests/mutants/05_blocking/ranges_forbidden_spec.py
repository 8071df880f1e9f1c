"""Calls the specification."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "which this exercise forbids"
FORBIDDEN = "spec"
SOURCE = """\
def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    return ranges_spec(n, block)
"""

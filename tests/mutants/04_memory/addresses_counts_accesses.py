"""Counts the elements."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "a line counts once, however often it is asked for"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    return len(list(offsets))
"""

"""All lines from the lowest to the highest."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "lines between elements do not count"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    offsets = [int(offset) for offset in offsets]
    if not offsets:
        return 0
    return (max(offsets) + itemsize - 1) // line - min(offsets) // line + 1
"""

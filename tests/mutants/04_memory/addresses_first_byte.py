"""An element lies where it begins."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "only the first byte counts here"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.add(int(first))
    return len(touched)
"""

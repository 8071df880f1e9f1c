"""Only the line of the first byte and that of the last one."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "the lines between its two ends"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.update((int(first), int(last)))
    return len(touched)
"""

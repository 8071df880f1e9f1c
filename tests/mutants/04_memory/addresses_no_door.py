"""No look at the two numbers."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "check_count for itemsize and line"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    touched = set()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.update(range(int(first), int(last) + 1))
    return len(touched)
"""

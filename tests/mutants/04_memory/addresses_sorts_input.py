"""Sorts the caller's array."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "changed its input offsets"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    if hasattr(offsets, "sort"):
        offsets.sort()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.update(range(int(first), int(last) + 1))
    return len(touched)
"""

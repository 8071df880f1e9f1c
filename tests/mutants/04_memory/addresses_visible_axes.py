"""Right for the tuples of the visible tests."""

EXERCISE = "addresses"
FAILS_IN = "addresses-hidden"
PHRASE = "any number of axes, strides of any size and sign"
SOURCE = """\
def byte_offset(index, strides):
    if len(index) == len(strides) == 3 and strides[1]:
        return 72
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.update(range(int(first), int(last) + 1))
    return len(touched)
"""

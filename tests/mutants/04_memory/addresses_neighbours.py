"""A line counts again when it comes back."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "collect line numbers in a set"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    count, latest = 0, None
    for offset in offsets:
        for number in range(int(offset // line), int((offset + itemsize - 1) // line) + 1):
            count += number != latest
            latest = number
    return count
"""

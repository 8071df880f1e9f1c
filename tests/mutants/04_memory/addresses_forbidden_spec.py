"""Right, but it calls the specification: nothing may count."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "lines_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def byte_offset(index, strides):
    return int(sum(i * stride for i, stride in zip(index, strides, strict=True)))


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    return lines_spec(offsets, itemsize, line)
"""

"""Keeps its first answer."""

EXERCISE = "addresses"
FAILS_IN = "addresses-test"
PHRASE = "add up index times stride"
SOURCE = """\
_answers = []


def byte_offset(index, strides):
    if len(index) != len(strides):
        raise ValueError("lengths differ")
    if not _answers:
        _answers.append(int(sum(i * stride for i, stride in zip(index, strides))))
    return _answers[0]


def lines_touched(offsets, itemsize, line=64):
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    touched = set()
    for offset in offsets:
        first, last = offset // line, (offset + itemsize - 1) // line
        touched.update(range(int(first), int(last) + 1))
    return len(touched)
"""

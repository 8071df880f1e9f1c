"""Keeps its first answer."""

EXERCISE = "block_ranges"
FAILS_IN = "block_ranges-test"
PHRASE = "one after another"
SOURCE = """\
_answers = []


def block_ranges(n, block):
    n, block = check_count("n", n, minimum=0), check_count("block", block)
    if not _answers:
        _answers.append([(start, min(start + block, n)) for start in range(0, n, block)])
    return _answers[0]
"""

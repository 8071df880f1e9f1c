"""Numbers in sentences."""

from tito.grading.wording import counted, hanging, times


def test_one_is_told_apart():
    assert [counted(n, "hand-in") for n in (0, 1, 2)] == ["0 hand-ins", "1 hand-in", "2 hand-ins"]
    assert [times(n) for n in (1, 2)] == ["once", "2 times"]


def test_a_long_text_goes_on_below_its_column():
    assert hanging("ann  ", "a b c", 20) == ["ann  a b c"]
    assert hanging("ann  ", "one two three four five six seven", 25) == [
        "ann  one two three four",
        "     five six seven",
    ]
    assert hanging("ann  ", "", 20) == ["ann"]
    # A word longer than the line, and a start that leaves no room.
    assert "".join(line.strip() for line in hanging("a  ", "x" * 50, 20)) == "a  " + "x" * 50
    assert all(len(line) <= 30 for line in hanging("n" * 26 + "  ", "several words here", 30))

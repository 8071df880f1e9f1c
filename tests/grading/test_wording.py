"""Numbers in sentences."""

from tito.grading.wording import counted, times


def test_one_is_told_apart():
    assert [counted(n, "hand-in") for n in (0, 1, 2)] == ["0 hand-ins", "1 hand-in", "2 hand-ins"]
    assert [times(n) for n in (1, 2)] == ["once", "2 times"]

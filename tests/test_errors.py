"""A user's error says where, what and what to do, in lines that editors can follow."""

from __future__ import annotations

from tito.errors import Problems, UsageError, UserError


def test_the_message_has_place_line_and_advice():
    error = UserError("does not parse", path="a.py", cell="cell 2 (f)", line=3, text="x = (\n")
    assert str(error) == "a.py:cell 2 (f):3: does not parse\n    x = ("
    error.hint = "close the bracket"
    assert str(error).endswith("\n  try: close the bracket")


def test_parts_that_are_not_known_are_left_out():
    assert str(UserError("broken")) == "broken"
    assert str(UserError("broken", path="a.py")) == "a.py: broken"
    assert str(UserError("broken", path="a.py", line=7)) == "a.py:7: broken"
    assert str(UserError("broken", text="")) == "broken\n    "


def test_codes():
    assert UserError("x").code == 1
    assert UsageError("x").code == 2
    assert UsageError("x", path="a").path == "a"
    assert UserError("x", code=2).code == 2


def test_several_problems_are_shown_one_under_the_other():
    problems = Problems([UserError("one"), UserError("two", path="b.py")])
    assert str(problems) == "one\nb.py: two"
    assert problems.code == 1 and isinstance(problems, UserError)

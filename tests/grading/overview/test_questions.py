from __future__ import annotations

from tito.grading.overview.questions import most_frequent, questions


def cell(name, points, status="passed", message=None, most=2, **more):
    row = {"id": name, "status": status, "points": points, "max_points": most}
    return {**row, "message": message, **more}


def test_rates_and_the_most_frequent_message():
    found = questions(
        [
            {"cells": [cell("a", 2, ratio=3.0), cell("b", None, "manual")]},
            {"cells": [cell("a", 1, "partial", "short\n  try   read once", ratio=2.0)]},
            {"cells": [cell("a", 0, "failed", "other")]},
            {"cells": [cell("a", 0, "failed", "long\n  try   read once")]},
        ]
    )
    a, b = found
    assert (a.asked, a.passed, a.partial, a.share) == (4, 1, 1, 3 / 8)
    assert (a.message, a.said, a.ratios) == ("read once", 2, (2.0, 3.0))
    assert a.pass_rate == 1 / 4
    assert (b.asked, b.pass_rate, b.share, b.message) == (0, None, None, None)


def test_messages_that_differ_in_their_numbers_are_one():
    assert most_frequent(["wrong at 3", "nan", None, "wrong at -1.5e3", ""]) == ("wrong at 3", 2)
    assert most_frequent([]) == (None, 0)


def test_the_cause_counts_before_the_first_line():
    text = "f x (3,): wrong\n  got  1\n  likely  a view\n  try  copy"
    assert most_frequent([text])[0] == "a view"


def test_a_question_worth_nothing_divides_by_nothing():
    [found] = questions([{"cells": [cell("a", 0, most=0)]}])
    assert found.share is None and found.pass_rate == 1

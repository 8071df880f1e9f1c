"""A mended test touches its question, and those that lean on what was changed."""

from __future__ import annotations

import pytest

from tests.grading.book.sample import MASTER, master
from tito.grading.book.changes import changed_questions, question_of

HELPER = "three = 3\n\n# %%\ndef six():\n    return 2 * three\n"


@pytest.mark.parametrize(
    ("old", "new", "questions"),
    [
        ("three = 3", "three = 3  # a remark", set()),
        ("three = 3", "three = 4", {"total"}),
        ("# 07 Sums", "# 07 More sums", set()),
        ('"points": 0.5', '"points": 1', {"total"}),
        ("return sum(values)\n    ###", "return sum(list(values))\n    ###", set()),
        ("def mean(values):", "def mean(values, start=0):", {"mean"}),
        ("assert mean([1, 3]) == 2", "assert mean([1, 3]) == 2, 'why'", {"mean"}),
        ("assert mean([1, 3]) == 2", "assert  mean([1,3])==2", set()),
        ('"hidden-tests", ', "", {"total"}),
        ('"points": 3', '"points": 4', {"draw"}),
        ("Why is a sum slow?", "Why is a sum so slow?", set()),
        ('"total-hidden"', '"total-more"', {"total"}),
    ],
)
def test_a_change_touches_these_questions(old, new, questions):
    assert old in MASTER
    assert changed_questions(master(), master(MASTER.replace(old, new))) == questions


def test_a_given_helper_is_followed_through_others():
    text = MASTER.replace("three = 3\n", HELPER).replace("mean([1, 3]) == 2", "six() == 6")
    assert changed_questions(master(text), master(text.replace("= 3\n", "= 5\n"))) == {
        "total",
        "mean",
    }


def test_given_code_that_only_acts_touches_all():
    text = MASTER.replace("three = 3\n", "three = 3\n# %%\nprint(1)\n")
    after = text.replace("print(1)", "print(2)")
    assert changed_questions(master(text), master(after)) == set(question_of(master()).values())


def test_each_graded_cell_belongs_to_a_question():
    assert question_of(master()) == {
        **dict.fromkeys(("total", "total-test", "total-hidden"), "total"),
        **dict.fromkeys(("mean", "mean-test"), "mean"),
        "own": "own",
        "reflect-1": "reflect-1",
        "draw": "draw",
    }

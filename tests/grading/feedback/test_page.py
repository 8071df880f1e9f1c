"""A student's page, from a module, its result and what a person wrote."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from tito.grading.feedback import Late, Mark, feedback_of, page
from tito.notebook import Cell, Notebook

SECRET = "SECRET_7731"


def code(grade_id, source, points=None, tags=(), solution=False):
    graded = {"grade": points is not None, "solution": solution, "grade_id": grade_id}
    meta = {"nbgrader": {**graded, **({"points": points} if points is not None else {})}}
    return Cell("code", source, {**meta, "tags": list(tags)})


def answer(source):
    meta = {"grade": True, "solution": True, "grade_id": "think", "points": 2}
    return Cell("markdown", source, {"nbgrader": meta})


def master():
    rubric = f"### BEGIN SOLUTION\n{SECRET} rubric\n### END SOLUTION"
    return Notebook(
        [
            Cell("markdown", "# 01 Halves & more"),
            Cell("markdown", "## Exercise 1: Halves"),
            code("half", f"### BEGIN SOLUTION\n{SECRET}\n### END SOLUTION", solution=True),
            code("half-test", "assert half(4) == 2", 3),
            code("half-hidden", f"assert half({SECRET}) == 9", 2, ["hidden-tests"]),
            Cell("markdown", "## Think"),
            answer(f"**1. Why?** Say $x^2$.\n\n{rubric}"),
        ]
    )


def hand_in(
    half="def half(x): return x / 2  # <i>mine</i>", why="Because $x^2$ <script>1</script>"
):
    return Notebook([code("half", half, solution=True), answer(why)])


def cell(grade_id, points, most, status="passed", message=None, **more):
    row = {"id": grade_id, "status": status, "points": points, "max_points": most}
    return {**row, "message": message, "seconds": 0.123456, **more}


def record(**changes):
    base = {
        "student": "s1",
        "status": "graded",
        "reason": None,
        "cells": [
            cell("half-test", 3, 3),
            cell("half-hidden", 0, 2, "failed", "half: a wrong value <b>", ratio=2.75),
            cell("think", None, 2, "manual"),
        ],
        "deviations": ["cell 4 (half-test) was changed"],
        "raised": [],
        "isolation": ["landlock7", "seccomp"],
    }
    return {**base, **changes}


def test_points_messages_and_own_code_stand_on_it():
    found = feedback_of(master(), record(), hand_in(), student="Ann <Example>")
    assert (found.points, found.max_points, found.waiting) == (3, 7, 2)
    text = page(found)
    for part in (
        "01 Halves &amp; more",
        "Ann &lt;Example&gt;",
        "Exercise 1: Halves",
        "half: a wrong value &lt;b&gt;",
        "# &lt;i&gt;mine&lt;/i&gt;",
        "half-hidden (hidden test): failed",
        "cell 4 (half-test) was changed",
        "landlock7, seccomp",
        "waits for a person",
        "Because <math",
    ):
        assert part in text


def test_nothing_secret_and_nothing_to_load_or_run():
    text = page(feedback_of(master(), record(), hand_in()))
    assert SECRET not in text
    assert "0.123" not in text and "2.75" not in text
    assert not re.search(r"<script|<link|<img|<iframe|@import|url\(|src=", text)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy[1].startswith("default-src 'none'")


def test_a_persons_marks_and_lateness_count():
    marks = {
        "think": Mark(Fraction(3, 2), "good: $y$", by_hand=True),
        "half-test": Mark(None, "neat <b>"),
    }
    late = Late("1 Dec 10:00 UTC", "30 Nov 23:59 UTC", "10 hours", Fraction(1, 2))
    found = feedback_of(
        master(), record(), hand_in(), marks=marks, late=late, comments=["*all in all*"]
    )
    assert found.points == 4 and found.waiting == 0
    text = page(found)
    assert "10 hours late: 0.5 points off" in text
    assert "graded by a person" in text and "good: <math" in text
    assert "neat &lt;b&gt;" in text and "<em>all in all</em>" in text


def test_points_for_an_earlier_answer_are_not_those_of_the_new_one():
    marks = {
        "think": Mark(Fraction(0), "too short", by_hand=True, waiting=True),
        "half-test": Mark(Fraction(3), by_hand=True, waiting=True),
    }
    found = feedback_of(master(), record(), hand_in(), marks=marks)
    assert (found.points, found.waiting) == (0, 5)
    text = page(found)
    assert "think: waits for a person" in text and "graded by a person" not in text
    assert "5 more are not decided yet" in text
    assert text.index("On an earlier version of this answer") < text.index("too short")


def test_a_comment_on_any_cell_is_on_the_page():
    """On the code of an exercise, whose points are its tests'; on one that is gone."""
    marks = {
        "half": Mark(None, "slow <b>loop</b>, *but* right"),
        "gone": Mark(None, "see me & ask"),
    }
    found = feedback_of(master(), record(), hand_in(), marks=marks)
    assert (found.points, found.waiting) == (3, 2)
    text = page(found)
    at = text.index("slow &lt;b&gt;loop&lt;/b&gt;, <em>but</em> right")
    assert text.index("Exercise 1: Halves") < at < text.index("1. Why?</span>")
    assert text.count("slow &lt;b&gt;") == 1 and "see me &amp; ask" in text


def test_lateness_costs_no_more_than_there_is():
    late = Late(penalty=Fraction(100))
    assert feedback_of(master(), record(), late=late).points == 0


@pytest.mark.parametrize("status", ["broken", "missing", "ambiguous"])
def test_what_could_not_be_graded_says_why(status):
    cells = [cell("half-test", 0, 3, "missing", "no JSON: 1 < 2")]
    row = record(status=status, reason="no JSON: 1 < 2", cells=cells, isolation=[])
    text = page(feedback_of(master(), row))
    assert f"Not graded ({status}):" in text and text.count("no JSON: 1 &lt; 2") == 1
    assert "half-test: not graded" in text and "0 of 3" in text
    # Nothing ran.
    assert "Graded by tests" not in text and "confined" not in text


@pytest.mark.parametrize("status", ["broken", "missing", "ambiguous"])
def test_what_could_not_be_graded_waits_for_nobodys_points(status):
    cells = [
        cell("half-test", 0, 3, "missing", "no JSON"),
        cell("half-hidden", 0, 2, "missing", "no JSON"),
        cell("think", None, 2, "manual"),
    ]
    found = feedback_of(master(), record(status=status, reason="no JSON", cells=cells))
    assert (found.points, found.waiting) == (0, 0)
    text = page(found)
    assert "waits for a person" not in text and "not decided yet" not in text
    assert "think: nothing to grade" in text and "0 of 2" in text
    assert "YOUR ANSWER HERE" not in text and "(no answer)" in text
    # A person may have seen the answer elsewhere.
    marks = {"think": Mark(Fraction(1), "as you mailed it", by_hand=True)}
    found = feedback_of(master(), record(status=status, reason="no JSON", cells=cells), marks=marks)
    assert found.points == 1 and "graded by a person" in page(found)


def test_a_long_name_breaks():
    text = page(feedback_of(master(), record(), hand_in(), student="x" * 300))
    assert re.search(r"body \{[^}]*overflow-wrap: anywhere", text)


def test_an_answer_left_as_it_was_waits_for_nobody():
    marks = {"think": Mark(Fraction(0))}
    found = feedback_of(master(), record(), hand_in(), marks=marks)
    assert (found.points, found.waiting) == (3, 0)
    assert "think: no answer" in page(found)


@pytest.mark.parametrize(
    ("points", "sign"),
    [("0", "lost"), ("1/2", "partly"), ("3/2", "partly"), ("2", "passed"), ("5/2", "passed")],
)
def test_signs_say_how_much_of_the_points_there_is(points, sign):
    """A cross is no points at all: for a person's marks as for the tests' own."""
    marks = {"think": Mark(Fraction(points), by_hand=True)}
    text = page(
        feedback_of(master(), record(cells=[cell("think", None, 2, "manual")]), marks=marks)
    )
    assert f'<span class="{sign}">think' in text
    tested = [cell("half-test", float(Fraction(points)), 2, "partial")]
    text = page(feedback_of(master(), record(cells=tested)))
    assert f'<span class="{sign}">half-test' in text
    assert ".partly::before" in text


def test_what_waits_has_no_sign():
    text = page(feedback_of(master(), record(), hand_in()))
    assert '<span class="open">think: waits for a person' in text
    assert ".open::before" not in text


def test_an_answer_that_is_not_there_is_shown_as_the_question_alone():
    found = feedback_of(master(), record())
    assert found.questions[-1].title == "1. Why?"
    assert "(no answer)" in page(found) and SECRET not in page(found)

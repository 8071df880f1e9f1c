"""What the audit makes of the judge's answers; the judge itself is real in one test only."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.grading.audit.sample import DOUBLE, LARGEST, small_master
from tito.grading.audit import judged
from tito.grading.audit.handmade import HandMade
from tito.grading.judge.result import CellResult, Result
from tito.notebook import Role

SMALLEST = HandMade(
    "smallest",
    "largest",
    "largest-test",
    "expected 3.0",
    LARGEST.replace("> best", "< best").replace("-math.inf", "math.inf"),
)
THREE_TIMES = HandMade(
    "three_times", "double", "double-test", "twice the largest", DOUBLE.replace("2 *", "3 *")
)


class Answers(judged.Setting):
    """A judge that gives what it is told to; every other cell gets nothing, with a word."""

    def __new__(cls, **given):
        made = super().__new__(cls)
        object.__setattr__(made, "given", given)
        object.__setattr__(made, "asked", [])
        return made

    def __init__(self, **given):
        super().__init__()

    def grade(self, master, submission):
        self.asked.append(submission)
        result = Result()
        for cell in master.of_role(Role.TEST):
            points, status, said = self.given.get(
                cell.grade_id.replace("-", "_"), (0, "failed", "wrong")
            )
            result.cells.append(
                CellResult(cell.grade_id, status, cell.points, Fraction(points), said)
            )
        return result


FULL = {
    "largest_test": (2, "passed", None),
    "largest_hidden": (1, "passed", None),
    "double_test": (2, "passed", None),
}


def test_a_full_reference_is_fine():
    assert list(judged.reference(small_master(), Answers(**FULL))) == []


def test_a_cell_where_the_reference_loses_is_named_with_its_message():
    answers = Answers(**{**FULL, "largest_hidden": (0, "failed", "no such luck")})
    (problem,) = judged.reference(small_master(), answers)
    assert "0 of 1 points in largest-hidden: no such luck" in problem


class Clocked(Answers):
    """What it is told for each time it is asked; `timed` cells measure speed."""

    def __init__(self, timed, *answers):
        super().__init__()
        object.__setattr__(self, "timed", frozenset(timed))
        object.__setattr__(self, "answers", list(answers))

    def __new__(cls, timed, *answers):
        return super().__new__(cls)

    def grade(self, master, submission):
        object.__setattr__(self, "given", self.answers.pop(0))
        return super().grade(master, submission)


SLOW = {**FULL, "double_test": (0, "failed", "0.9 times")}


@pytest.mark.parametrize(
    ("timed", "answers", "red"),
    [
        (["double-test"], [SLOW, FULL], 0),
        (["double-test"], [SLOW, SLOW], 1),
        ([], [SLOW], 1),
        # What no clock decides is red at once.
        (["double-test"], [{**SLOW, "largest_test": (0, "failed", "wrong")}], 2),
        # One cell and then another: nothing was found twice.
        (["double-test", "largest-test"], [SLOW, {**FULL, "largest_test": (0, "failed", "")}], 0),
    ],
)
def test_a_speed_that_the_reference_misses_is_measured_once_more(timed, answers, red):
    judge = Clocked(timed, *answers)
    assert len(list(judged.reference(small_master(), judge))) == red
    assert judge.answers == []


@pytest.mark.parametrize(
    ("timed", "answers", "red"),
    [
        (["double-test"], [FULL, SLOW], 0),
        (["double-test"], [FULL, FULL], 1),
        ([], [FULL], 1),
        (["double-test"], [SLOW], 0),
    ],
)
def test_a_mutant_that_a_clock_let_pass_is_tried_once_more(timed, answers, red):
    words = "twice the largest"
    judge = Clocked(timed, *({**a, "double_test": (*a["double_test"][:2], words)} for a in answers))
    found = judged.hand_made(small_master(), [THREE_TIMES], judge)
    assert len([problem for problem in found if "three_times" in problem]) == red
    assert judge.answers == []


def test_blanks_that_get_nothing_are_fine_and_all_kinds_are_tried():
    answers = Answers()
    assert list(judged.blanks(small_master(), answers)) == []
    # As released all at once; then three kinds, each in the two rounds of this module.
    assert len(answers.asked) == 1 + 3 * 2
    assert "NotImplementedError" in answers.asked[0].by_id("largest").source


def test_a_cell_that_gives_a_blank_something_is_named():
    problems = list(judged.blanks(small_master(), Answers(double_test=(1, "partial", None))))
    assert len(problems) == 1 + 3
    assert all("double-test gives 1 of 2 points" in p for p in problems)


def test_zero_points_from_a_judge_that_died_prove_nothing():
    problems = list(judged.blanks(small_master(), Answers(double_test=(0, "died", "no memory"))))
    assert problems
    assert all("could not be graded: no memory" in p for p in problems)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((0, "failed", "got 1, expected 3.0"), None),
        ((1, "partial", "got 1, expected 3.0"), None),
        ((2, "passed", None), "passes largest-test"),
        ((0, "failed", "got 1"), "does not say 'expected 3.0': got 1"),
        ((0, "failed", None), "does not say"),
        ((0, "died", "got 1, expected 3.0"), "could not be graded"),
    ],
)
def test_a_mutant_loses_points_where_it_says_with_the_words_it_says(answer, says):
    answers = Answers(largest_test=answer)
    mutants = [SMALLEST, SMALLEST, THREE_TIMES, THREE_TIMES]
    found = [p for p in judged.hand_made(small_master(), mutants, answers) if "smallest" in p]
    assert len(found) == (0 if says is None else 2)
    assert all(says in p for p in found)


@pytest.mark.parametrize(
    ("change", "says"),
    [({"exercise": "none"}, "no solution cell"), ({"fails_in": "double-test"}, "has no test cell")],
)
def test_a_mutant_of_nothing_is_named(change, says):
    wrong = HandMade(**{**SMALLEST.__dict__, **change})
    assert any(says in p for p in judged.hand_made(small_master(), [wrong], Answers()))


def test_two_hand_made_mutants_an_exercise_are_wanted():
    found = list(judged.hand_made(small_master(), [SMALLEST], Answers()))
    assert "largest has 1 hand-made mutants, 2 are wanted (tests/mutants/README.md)" in found
    assert "double has 0 hand-made mutants, 2 are wanted (tests/mutants/README.md)" in found
    enough = [SMALLEST, SMALLEST, THREE_TIMES, THREE_TIMES]
    found = list(judged.hand_made(small_master(), enough, Answers()))
    assert not [p for p in found if "are wanted" in p]


def test_a_forbidden_route_gets_nothing_in_any_test_and_each_set_is_tried():
    forbidding = small_master(largest="#| forbid: blas\n" + LARGEST)
    route = HandMade("route", "largest", "largest-test", "np.dot", LARGEST, "blas")
    answers = Answers(
        largest_test=(0, "failed", "np.dot is forbidden"), largest_hidden=(1, "passed", None)
    )
    found = list(judged.hand_made(forbidding, [route], answers))
    assert "route: a forbidden route gets 1 of 1 points in largest-hidden" in found
    found = list(judged.hand_made(forbidding, [SMALLEST], Answers()))
    assert "largest forbids blas, and no hand-made mutant takes that route" in found


def test_mutants_of_independent_exercises_share_a_hand_in():
    other = small_master(double=DOUBLE.replace("2 * largest(values)", "2 * max(values)"))
    answers = Answers()
    list(judged.hand_made(other, [SMALLEST, SMALLEST, THREE_TIMES, THREE_TIMES], answers))
    assert len(answers.asked) == 2
    answers = Answers()
    list(judged.hand_made(small_master(), [SMALLEST, THREE_TIMES], answers))
    assert len(answers.asked) == 2
    assert answers.asked[0].by_id("largest").source == LARGEST


def test_the_real_judge_agrees():
    master, setting = small_master(), judged.Setting()
    assert list(judged.reference(master, setting)) == []
    found = list(judged.hand_made(master, [SMALLEST], setting))
    assert not [p for p in found if p.startswith("smallest")]
    released = judged.strip.student_version(master)
    assert list(judged._nothing(setting.grade(master, released), "as released")) == []

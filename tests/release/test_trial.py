"""`tito test`: one line a question, and words that agree with the verdict."""

from __future__ import annotations

from fractions import Fraction

from tests.release.sample import master
from tito.course import ModuleRef
from tito.grading.judge import CellResult, Result
from tito.release import trial


def results(test="passed", points=1, message=None, hidden="later"):
    return [
        CellResult("weigh-test", test, Fraction(1), Fraction(points), message),
        CellResult("weigh-hidden", hidden, Fraction(2), None if hidden == "later" else Fraction(2)),
        CellResult("reflect-1", "manual", Fraction(2)),
    ]


def tried(cells, tmp_path, **more):
    ref = ModuleRef("02_demo", tmp_path)
    result = Result(cells=cells, **more)
    return trial.Trial(ref, ref.ipynb, result, trial.questions(master(), cells))


def test_a_question_is_one_line(tmp_path):
    one = tried(results(), tmp_path)
    assert trial.as_lines(one) == ["  1 weigh     1/1  +2 later   passed"]
    assert one.passed


def test_a_failure_shows_the_first_line_and_below_it_the_rest(tmp_path):
    message = "weigh  n=7: wrong from element 3 on\n  got [1]\n  in cell 9 (weigh), line 4: y = x"
    one = tried(results("failed", 0, message), tmp_path)
    first, *rest = trial.as_lines(one)
    assert first == "  1 weigh     0/1  +2 later   weigh  n=7: wrong from element 3 on"
    assert rest == ["        got [1]", "        in cell 9 (weigh), line 4: y = x"]
    assert not one.passed


def test_the_summary_counts_what_is_open(tmp_path):
    assert trial.summary(tried(results(), tmp_path)) == (
        "visible tests: 1 of 1 points; 2 more are decided after hand-in; 2 are read by a person"
    )


def test_no_test_is_no_pass(tmp_path):
    assert not tried([], tmp_path).passed
    assert trial.as_lines(tried([], tmp_path)) == []


def test_hidden_tests_alone_are_no_pass(tmp_path):
    one = tried(results()[1:], tmp_path)
    assert not one.passed
    assert "decided after hand-in" in trial.as_lines(one)[0]


def test_a_cell_that_raises_outside_the_tests_is_no_pass(tmp_path):
    assert not tried(results(), tmp_path, raised=["cell 1, line 1: ZeroDivisionError"]).passed


def test_a_notebook_that_cannot_be_graded_is_no_pass(tmp_path):
    assert not tried(results(), tmp_path, status="broken").passed


def test_the_json_is_the_grading_json(tmp_path):
    (entry,) = trial.as_json([tried(results(), tmp_path)])["submissions"]
    assert entry["passed"] is True and entry["points"] == 1 and entry["max_points"] == 3
    assert [c["status"] for c in entry["cells"]] == ["passed", "later", "manual"]

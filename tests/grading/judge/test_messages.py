"""What students read, and what they never read about a hidden test."""

import linecache

import numpy as np
import pytest

from tito.checks import CheckFailed
from tito.grading.judge.messages import Context, earlier_module, filename, tidy, verdict
from tito.grading.judge.plan import Exercise, GradedTest
from tito.grading.judge.raised import CodeFrame
from tito.grading.judge.score import BadScore
from tito.grading.judge.world import InputChanged, StudentDied, StudentTimeout

EXERCISE = Exercise(2, "blur", 4, frozenset({"blur"}))
SEEN = "Blur an image with a 3x3 kernel; float32 stays float32. blur"


def context(**missing):
    return Context(missing, SEEN, {"blur": EXERCISE})


def failing(source, hide=False, ctx=None, **names):
    """The verdict on a test cell with this source, run here."""
    secret = frozenset(range(1, 99)) if hide else frozenset()
    cell = GradedTest("blur-test", "cell 4 (blur-test)", source, source, 3, 3, hide, secret, 2)
    linecache.cache[filename(cell)] = (1, None, source.splitlines(True), filename(cell))
    with pytest.raises(BaseException) as caught:
        exec(compile(source, filename(cell), "exec"), {"np": np, **names})
    return verdict(caught.value, cell, ctx or context(), hide=hide)


def raising(error):
    def blur(*args):
        raise error

    return blur


def test_an_assert_says_its_message_or_itself():
    assert failing("assert 1 == 2, 'edges are wrong'").message == "edges are wrong"
    assert failing("x = 3\nassert x == 2").message == "assert x == 2"


def test_a_failed_check_says_everything_it_has():
    found = failing("blur()", blur=raising(CheckFailed("blur  n=7\n  got 3")))
    assert (found.status, found.message) == ("failed", "blur  n=7\n  got 3")


def test_a_stub_is_one_line():
    found = failing("blur(1)", blur=raising(NotImplementedError()))
    assert found.status == "missing"
    assert found.message == "exercise 4 (blur) is not written yet"


OTHER = Exercise(1, "norm", 1, frozenset({"norm", "blur_check"}))


def test_the_stub_that_raised_is_named_not_the_exercise_that_called_it():
    """blur is written and calls a function of another exercise, or a second one of its own."""
    error = NotImplementedError()
    for name, message in {
        "blur_check": "exercise 4 (blur): blur_check is not written yet",
        "blur": "exercise 4 (blur) is not written yet",
        "anything": "exercise 4 (blur) is not written yet",
    }.items():
        error.student_frames = (CodeFrame("cell 9 (x)", 2, name, "raise NotImplementedError()"),)
        own = Context({}, SEEN, {"blur": EXERCISE, "norm": OTHER, "blur_check": OTHER})
        found = failing("blur(1)", ctx=own, blur=raising(error))
        assert (found.status, found.message) == ("missing", message)
        found = failing("blur(1)", True, own, blur=raising(error))
        assert found.message == "exercise 4 (blur), or what it calls, is not written yet"


def test_a_hidden_test_says_whether_it_was_the_students_code_that_failed():
    error = IndexError("the hidden 77")
    found = failing("blur(1)", hide=True, blur=raising(error))
    assert found.message == "a hidden test failed: it ended with an exception"
    error.student_frames = (CodeFrame("cell 3 (blur)", 7, "blur", "x[77]"),)
    found = failing("blur(1)", hide=True, blur=raising(error))
    assert found.message == "a hidden test failed: your code ended with an exception"


def test_an_exception_names_the_students_line():
    error = IndexError("list index out of range")
    error.add_note("cell 3 (blur), line 7: x[9]")
    found = failing("blur(1)", blur=raising(error))
    assert found.status == "error"
    assert found.message == "IndexError: list index out of range\n  cell 3 (blur), line 7: x[9]"


def test_a_missing_name_says_why():
    why = {"blur": ("timeout", "cell 3 (blur) took longer than 20 s")}
    found = failing("blur(1)", ctx=context(**why))
    assert found.status == "timeout"
    assert found.message == "blur is not there: cell 3 (blur) took longer than 20 s"


def test_a_name_that_nobody_defines_is_the_authors_matter():
    assert "for the instructor" in failing("blurr(1)").message


def test_a_bad_score_is_for_the_instructor():
    found = failing("f()", f=raising(BadScore("the last value is a bool")))
    assert found.status == "error" and found.message.startswith("for the instructor: ")


@pytest.mark.parametrize(
    "error, status", [(StudentTimeout("took 10 s"), "timeout"), (StudentDied("SIGSEGV"), "died")]
)
def test_the_death_of_the_process_is_told(error, status):
    found = failing("blur(1)", blur=raising(error))
    assert found.status == status and str(error) in found.message


@pytest.mark.parametrize(
    "source",
    [
        "want = [-7.25]\nassert blur(1) == want, f'wanted {want} for {-7.25}'",
        "assert blur(1) == 3, 'PRIVATE_7 is expected'",
        "assert blur(1) == 3, 'expected [0, 8.5] here'",
        "assert blur(1) == 3",
        "secret_input = 7.25\nassert blur(secret_input) == 3, 'secret_input is wrong'",
        "raise ValueError('7.25')",
        "boom(7.25)",
        "exit_with(7.25)",
    ],
)
def test_nothing_hidden_is_told(source):
    def boom(value):
        raise RuntimeError(f"I saw {value} and PRIVATE_7 -7.25 secret_input 8.5")

    def exit_with(value):
        raise StudentDied("ended the process (exit code 7.25)")

    found = failing(source, hide=True, blur=lambda x: f"{x} 7.25", boom=boom, exit_with=exit_with)
    for word in ("7.25", "PRIVATE", "8.5", "secret", "RuntimeError", "ValueError", "saw"):
        assert word not in found.message


@pytest.mark.parametrize(
    "words", ["rows of negative numbers", "float32 stays float32", "a 3x3 kernel: blur is wrong"]
)
def test_the_authors_plain_words_are_told(words):
    found = failing(f"assert blur(1) == 3, {words!r}", hide=True, blur=lambda x: x)
    assert words in found.message


def test_a_check_under_hiding_shows_its_public_part():
    error = CheckFailed("blur  n=7: got [7.25]", public="blur: a wrong value")
    found = failing("blur(1)", hide=True, blur=raising(error))
    assert found.message == "blur: a wrong value"
    changed = failing("blur(1)", hide=True, blur=raising(InputChanged("x at [0, 3] is 7.25")))
    assert "7.25" not in changed.message and "input" in changed.message


@pytest.mark.parametrize(
    "text",
    [
        "softmax is exercise 3 of 03_vectorize: tito start 03",
        "No module named 'tinykernels.vectorized'",
        "cannot import name 'softmax' from 'tinykernels.vectorized' (x.py)",
    ],
)
def test_a_missing_export_of_ones_own_says_how_to_go_on(text):
    own = context()
    own.own_before = True
    found = failing("blur(1)", ctx=own, blur=raising(ImportError(text)))
    assert "not exported yet" in found.message and "tito export" in found.message
    assert earlier_module(found.message) == ("03" if "exercise 3" in text else None)
    assert "tito export" not in failing("blur(1)", blur=raising(ImportError(text))).message


def test_messages_are_bounded_and_printable():
    text = tidy("a\x1b[31m\x00b" + "x" * 9000)
    assert len(text) <= 4000 and "\x1b" not in text and "\x00" not in text
    assert tidy("\udc80 kept going")

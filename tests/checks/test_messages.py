"""The messages of failed checks, word for word."""

import warnings
from textwrap import dedent

import numpy as np
import pytest

from tito.checks import CheckFailed, expect_close, expect_equal, expect_raises
from tito.checks.notebook import NotebookRuntime
from tito.checks.runtime import use

GIVEN = """
import numpy as np
from tito.checks import *

def ramp(n):
    return np.arange(1.0, n + 1)

def spec(x):
    return np.cumsum(x)

def restarted(x, k):
    return np.concatenate([np.cumsum(part) for part in np.array_split(x, k)])

def chunked_cumsum(x, k=4):
    return restarted(x, k)
"""


@pytest.fixture
def failure(run_cell):
    """The CheckFailed that a test cell ends with."""

    def run(test: str, given: str = GIVEN) -> CheckFailed:
        namespace = {"__name__": "__main__"}
        with use(NotebookRuntime()):
            run_cell(given, namespace)
            with pytest.raises(CheckFailed) as caught:
                run_cell(dedent(test), namespace)
        return caught.value

    return run


def text(message: str) -> str:
    return dedent(message).strip("\n")


def test_the_whole_message(failure):
    message = failure("""
        for n in (7, 64):
            for k in (1, 3, 4):
                x = ramp(n)
                want = spec(x)
                expect_close(
                    chunked_cumsum(x, k), want, inner=n,
                    likely={"each chunk starts again from its own first element":
                            (lambda: restarted(x, k), "add the total of all chunks before")},
                    hint="check the shift of the chunks")
        """)
    assert str(message) == text("""
        chunked_cumsum  n=7, k=3: wrong from element 3 on
          got       [1. 3. 6. 4. 9. 6. 13.]    float64 (7,)
          expected  [1. 3. 6. 10. 15. 21. 28.] float64 (7,)
          likely    each chunk starts again from its own first element
          try       add the total of all chunks before; check the shift of the chunks
        """)


def test_what_a_hidden_cell_may_show_holds_no_value(failure):
    message = failure("""
        n, k = 7, 3
        expect_close(chunked_cumsum(ramp(n), k), spec(ramp(n)), inner=n, hint="mind the shift")
        """)
    assert message.public == "chunked_cumsum: a wrong value\n  try       mind the shift"


def test_the_first_cause_that_fits_is_named(failure):
    message = failure("""
        x, k = ramp(6), 2
        expect_close(chunked_cumsum(x, k), spec(x), inner=6, likely={
            "raises": lambda: 1 / 0,
            "another mistake": lambda: x,
            "restarts": lambda: restarted(x, k),
            "restarts again": lambda: restarted(x, k)})
        """)
    assert "likely    restarts\n" in str(message) + "\n"


def test_causes_are_not_asked_when_the_answer_is_right():
    asked = []
    expect_close(1.0, 1.0, likely={"asked": lambda: asked.append(1)})
    assert asked == []


def test_a_cause_that_gives_the_right_answer_explains_nothing():
    want = np.array([1.0, 2.0])
    with pytest.raises(CheckFailed) as caught:
        expect_close(want.astype(np.float32), want, likely={"nothing": lambda: want.copy()})
    assert "likely" not in str(caught.value)
    assert "its dtype is float32, expected float64" in str(caught.value)


@pytest.mark.parametrize("check", [expect_close, expect_equal])
def test_a_cause_may_answer_in_another_dtype(check):
    got, want = np.array([1, 4], np.float32), np.array([1, 2], np.float32)
    with pytest.raises(CheckFailed, match="likely    squares"):
        check(got, want, likely={"squares": lambda: np.array([1.0, 2.0]) ** 2})


def test_any_crash_is_no_exception_to_ask_for():
    for wide in (Exception, BaseException, (ValueError, Exception)):
        with pytest.raises(ValueError, match="true of any crash"):
            expect_raises(wide, int, "x")


@pytest.mark.parametrize(
    ("test", "case"),
    [
        ("x = np.ones((3, 2), np.float32, order='F')", "f  x (3, 2) float32 Fortran"),
        ("x = np.ones((4, 6))[::2]", "f  x (2, 6) float64 strided"),
        ("x = np.ones((4, 6)).transpose(1, 0)[::2]", "f  x (3, 4) float64 Fortran, strided"),
        ("x = np.ones((2, 3, 4)).transpose(0, 2, 1)", "f  x (2, 4, 3) float64 transposed"),
        ("x = np.ones(5)[::-1]", "f  x (5,) float64 reversed"),
        ("x = np.broadcast_to(np.float32(1), (2, 2))", "f  x (2, 2) float32 broadcast, read-only"),
        ("x = np.zeros(9, np.uint8)[1:].view(np.float64)", "f  x (1,) float64 unaligned"),
        ("x = np.ones(2).astype('>f8')", "f  x (2,) float64 (byte order swapped)"),
        ("x = np.float32(1.5)", "f  x=float32(1.5)"),
        ("x = 'same'", "f  x='same'"),
        ("x = np.float32", "f  x=float32"),
        ("x = (2, 3)", "f  x=(2, 3)"),
    ],
)
def test_the_case_describes_each_input(failure, test, case):
    message = failure(f"{test}\nexpect_close(f(x), 1.0)", "from tito.checks import *\n" + F)
    assert str(message).startswith(case + ": returned None")


F = """
import numpy as np
class Nothing:
    copy = astype = lambda *args: None
def f(*args, **kwargs):
    pass
def made(n):
    return Nothing()
"""


@pytest.mark.parametrize(
    ("test", "case"),
    [
        ("expect_close(made(2).copy(), 1.0)", "made(2)"),
        ("x = 3\nexpect_close(made(x).astype(int), 1.0)", "made  x=3"),
        ("n = 3\nexpect_close(f(np.ones(n)), 1.0)", "f  n=3"),
        ("got = f(1)\nother = 2\nexpect_close(got, 1.0)", "f(1)"),
        ("got = f(0)\ngot = f(1)\nexpect_equal(got, 1.0)", "f(1)"),
        ("expect_close(np.asarray(f(2)), 1.0)", "f(2)"),
        ("k = 2\nexpect_close(f(1, k=k), 1.0)", "f  k=2"),
        ("expect_close(got=f(5), want=1.0)", "f(5)"),
        ("for g in (f,):\n    expect_close(g(5), 1.0)", "f(5)"),
        ("for b in (1,):\n    for a in (2,):\n        expect_close(f(a, b), 1.0)", "f  b=1, a=2"),
        ("x = np.ones((2, 3))\nexpect_close(f(x[0]), 1.0)", "f  x[0] (3,) float64"),
        ("x = np.ones((2, 3))\nexpect_close(f(x[:, 1]), 1.0)", "f  x[:, 1] (2,) float64 strided"),
        ("x = np.ones((2, 3))\nexpect_close(f(x.T), 1.0)", "f  x.T (3, 2) float64 Fortran"),
        ("x = 1\nexpect_close(f(x), 1.0, case='all -inf')", "f  all -inf"),
        ("import tito.checks as c\nexpect_close(f(7), 1.0)", "f(7)"),
        ("expect_close(expect_unchanged(f, np.ones(2)), 1.0)", "f(np.ones(2))"),
        ("expect_close(expect_written(f, np.ones(2), 3, place=1), 1.0)", "f(np.ones(2), 3)"),
        (
            "n = 2\ngot = expect_written(f, np.ones(n), 3, place=1)\nexpect_close(got, 1.0)",
            "f  n=2",
        ),
        (
            "for g in (f,):\n    got = expect_written(g, np.ones(2), 3, place=1)\n"
            "    expect_equal(got, 1)",
            "f(np.ones(2), 3)",
        ),
        ("x = 1\nexpect_close(f(x), 1.0, case='f compiled, x=2')", "f compiled, x=2"),
        ("def check(h):\n    expect_close(h(7), 1.0)\ncheck(f)", "h(7)"),
        ("expect_close(None, 1.0)", "the result"),
        ("expect_raises(ValueError, f, 4, 0)", "f(4, 0)"),
        ("k = 0\nexpect_raises(ValueError, f, 4, k=k, hint='try')", "f  k=0"),
        (
            "a, b = np.ones((2, 3)), np.ones((3, 2))\nexpect_close(f(a, b), 1.0)",
            "f  a (2, 3) float64, b (3, 2) float64",
        ),
    ],
)
def test_the_case_is_read_from_the_calling_statement(failure, test, case):
    message = failure(test, "from tito.checks import *\n" + F)
    assert str(message).split(":")[0] == case or str(message).startswith(case + ": ")


def test_without_a_source_the_message_names_no_case():
    source = "expect_close(None, 1.0)"
    with pytest.raises(CheckFailed, match=r"^the result: returned None"):
        exec(compile(source, "<nowhere>", "exec"), {"expect_close": expect_close})


def test_a_function_that_is_handed_in_is_named_without_a_source():
    def chunks(n):
        return n

    source = "expect_raises(ValueError, f, 4)"
    with pytest.raises(CheckFailed, match=r"^chunks: did not raise ValueError"):
        exec(compile(source, "<nowhere>", "exec"), {"expect_raises": expect_raises, "f": chunks})


def test_long_arrays_are_cut_around_the_first_wrong_element():
    want = np.arange(100.0)
    got = want.copy()
    got[50] = -1
    with pytest.raises(CheckFailed) as caught:
        expect_close(got, want)
    assert str(caught.value) == text("""
        the result: wrong in 1 of 100 elements, first at [50]
          got       [... 48. 49. -1. 51. 52. 53. ...] float64 (100,)
          expected  [... 48. 49. 50. 51. 52. 53. ...] float64 (100,)
        """)


def test_of_a_large_matrix_the_row_with_the_first_wrong_element_is_shown():
    want = np.zeros((5, 8))
    got = want.copy()
    got[0, 3] = got[2, 1] = got[4, 7] = 1
    with pytest.raises(CheckFailed) as caught:
        expect_close(got, want)
    assert "wrong in 3 of 40 elements, first at [0, 3]" in str(caught.value)
    assert "got       [0, :] = [0. 0. 0. 1. 0. 0. 0. 0.] float64 (5, 8)" in str(caught.value)


def test_digits_are_added_until_the_two_differ():
    with pytest.raises(CheckFailed) as caught:
        expect_close(1.00000000001, 1.0)
    assert "got       1.00000000001 float" in str(caught.value)


def test_a_float16_is_shown_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CheckFailed) as caught:
            expect_equal(np.float16([0.5, 1e-7]), np.float16([65504, 0]))
    assert "[0.5 1.e-07]" in str(caught.value) and "[65500. 0.]" in str(caught.value)


def test_advice_on_a_dtype_fits_results_of_a_fixed_one_too():
    with pytest.raises(CheckFailed) as caught:
        expect_close(np.ones(2), np.ones(2, np.float32))
    assert ".astype(np.float32)" in str(caught.value)


def test_a_value_of_an_unknown_class_is_never_asked_for_its_repr():
    class Loud:
        def __repr__(self):
            raise RuntimeError("asked")

    with pytest.raises(CheckFailed) as caught:
        expect_equal([Loud()], [1])
    assert "[<Loud>] list" in str(caught.value)


def test_an_exception_of_the_student_passes_through_an_unchanged_check():
    from tito.checks import expect_unchanged

    def broken(x):
        return x[99]

    with pytest.raises(IndexError, match="99"):
        expect_unchanged(broken, np.ones(3))

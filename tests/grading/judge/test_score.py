"""Partial credit: what a last value counts, and which value is never a score."""

import ast
from fractions import Fraction

import numpy as np
import pytest

from tito.grading.judge.score import BadScore, Origin, last_expression, last_value_of, score

SIX = Fraction(6)


@pytest.mark.parametrize(
    "value, points",
    [
        (None, SIX),
        (0, 0),
        (0.0, 0),
        (-0.0, 0),
        (6, SIX),
        (1.5, Fraction(3, 2)),
        (0.1, Fraction(1, 10)),
        (1 / 3, Fraction(1, 3)),
        (Fraction(5, 2), Fraction(5, 2)),
        (np.float64(0.0), 0),
        (np.float32(0.5), Fraction(1, 2)),
        (np.int16(4), 4),
        (np.array(2.0), 2),
        (np.array(5), 5),
    ],
)
def test_numbers_are_points(value, points):
    assert score(value, SIX) == points


@pytest.mark.parametrize(
    "value",
    [True, np.True_, "3", float("nan"), float("inf"), -1, 6.5, (1, 2), [3], 1j, {}, object()],
)
def test_what_is_no_number_of_points_is_never_full_marks(value):
    with pytest.raises(BadScore):
        score(value, SIX)


@pytest.mark.parametrize(
    "value", [np.float64("nan"), np.array("3"), np.array(True), np.ones(1), np.ones((2, 2))]
)
def test_what_numpy_calls_no_number_neither(value):
    with pytest.raises(BadScore):
        score(value, SIX)


@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), Fraction(10**400, 3), Fraction(19, 2)],
    ids=["huge", "huge and negative", "a huge fraction", "a fraction"],
)
def test_a_score_of_any_size_is_refused_in_few_words(value):
    with pytest.raises(BadScore, match=r"not between 0 and 6 points") as caught:
        score(value, SIX)
    assert len(str(caught.value)) < 100


def test_sums_are_exact():
    tenths = [score(0.1, SIX) for _ in range(10)]
    thirds = [score(0.3333333333333333, SIX) for _ in range(3)]
    assert sum(tenths) == 1 and sum(thirds) == 1


@pytest.mark.parametrize(
    "source, shown",
    [("x = 1\nx", True), ("x;", False), ("x = 1", False), ("é = 'ü'; é", True), ("'ü' ;", False)],
)
def test_a_semicolon_hides_the_value_as_in_jupyter(source, shown):
    assert (last_expression(ast.parse(source), source) is not None) == shown


@pytest.mark.parametrize(
    "source",
    [
        "solve(3)",
        "got = solve(3)\ngot",
        "got = solve(3)\nmin(got, 4)",
        "total = 0\nfor v in solve(3):\n    total += v\ntotal",
        "a, b = solve(3)\nb",
        "def grade():\n    return solve(3)\ngrade()",
        "with solve(3) as s:\n    pass\ns.points",
        "points(solve(3))",
        "got = solve(3)\npoints(min(got, 2))",
        "points(np.sum(solve(3)))",
        "points(len(solve(3)))",
        "steps_of(solve(3))",
        "from tito.checks import expect_unchanged\nexpect_unchanged(solve, 3)",
        "[v for v in solve(3)][0]",
        "(n := solve(3))\nn",
        "r = []\nr.append(solve(3))\nsum(r)",
        "r = {}\nr.update(a=solve(3))\nr['a']",
        "r = Record()\nsetattr(r, 'v', solve(3))\nr.v",
        "try:\n    solve(3)\nexcept ValueError as e:\n    got = float(str(e))\ngot",
        "def g(v=solve(3)):\n    return v\ng()",
        "def g(v):\n    return v\ng(solve(3))",
        "def g(a, *more, **named):\n    return named['b']\ng(1, b=solve(3))",
        "def g():\n    yield from solve(3)\nsum(g())",
        "match solve(3):\n    case [a, *b]: pass\n    case {'x': 1, **c}: pass\nb",
        "r = []\nsolve(lambda v: r.append(v))\nsum(r)",
        "r = []\ndef keep(v):\n    r.append(v)\nsolve(keep)\nsum(r)",
        "sum(v for v in solve(3))",
        "sum(1 for v in solve(3))",
    ],
)
def test_a_value_of_the_students_is_no_score(source):
    assert last_value_of(ast.parse(source), {"solve"}) is not Origin.TEST


@pytest.mark.parametrize(
    "source",
    [
        "2 * (solve(3) == 9)",
        "got = solve(3)\n4 if got == 9 else 1",
        "earned = 0\nif solve(3) == 9:\n    earned += 2\nearned",
        "sum(solve(k) == k * k for k in range(4))",
        "int(np.allclose(solve(3), 9))",
        "from tito.checks import counts, points\nc = make()\nsolve(c)\npoints(counts(c).reads)",
        "def grade():\n    return 2 if solve(3) == 9 else 0\ngrade()",
        "points(2, message=solve(3))",
        "3 * (not solve(0))",
        "points(steps_of(solve(3)))",
        "n = reads_of(solve, x)\npoints(n / 2)",
        "points(2, f'not {solve(3)}')",
        "def mark(got, want):\n    return 2 if got == want else 0\nmark(solve(3), 9)",
        "r = []\nr.append(2 if solve(3) == 9 else 0)\nsum(r)",
        "got = solve(3)\nright = [g == w for g, w in zip(got, [1, 2])]\nsum(right) / len(right)",
    ],
)
def test_a_verdict_about_the_students_value_is_a_score(source):
    assert last_value_of(ast.parse(source), {"solve"}) is Origin.TEST


@pytest.mark.parametrize(
    "source, origin",
    [
        ("solve(3)", Origin.STUDENT),
        ("got = solve(3)\ngot.total()", Origin.STUDENT),
        ("print(solve(3))", Origin.MIXED),
        ("np.testing.assert_allclose(solve(3), 9)", Origin.MIXED),
    ],
)
def test_a_call_that_only_prints_the_students_value_is_told_apart(source, origin):
    assert last_value_of(ast.parse(source), {"solve"}) is origin


def test_the_checks_word_counts_whatever_name_they_have():
    tree = ast.parse("spd(solve)")
    assert last_value_of(tree, {"solve"}) is Origin.MIXED
    assert last_value_of(tree, {"solve"}, ["spd"]) is Origin.TEST

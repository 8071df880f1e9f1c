"""Sums that are exact, and JSON that says the same."""

import json
from fractions import Fraction

import pytest

from tito.grading.judge.result import LATER, MANUAL, PASSED, CellResult, Result
from tito.notebook.points import exact


@pytest.mark.parametrize(
    "points, total",
    [
        ([0.1] * 10, "1"),
        ([2.5] * 3, "15/2"),
        ([1 / 3] * 3, "1"),
        ([0.7, 0.2, 0.1], "1"),
        ([1, 1, 1, 4e-16], "3"),
        ([], "0"),
    ],
)
def test_totals_are_what_a_person_adds_up(points, total):
    cells = [CellResult(f"t{i}", PASSED, exact(p), exact(p)) for i, p in enumerate(points)]
    result = Result(cells=cells)
    document = json.loads(json.dumps(result.to_json()))
    assert document["points_exact"] == total
    assert document["points"] == float(Fraction(total))
    assert document["points"] == document["max_points"]


def test_what_people_and_hidden_tests_decide_is_counted_apart():
    cells = [
        CellResult("t", PASSED, Fraction(3), Fraction(3)),
        CellResult("h", LATER, Fraction(2)),
        CellResult("essay", MANUAL, Fraction(4)),
    ]
    result = Result(cells=cells)
    assert (result.points, result.max_points) == (3, 5)
    assert (result.later_points, result.manual_points) == (2, 4)
    assert [c["points"] for c in result.to_json()["cells"]] == [3, None, None]


def test_nothing_run_is_not_all_passed():
    assert not Result(cells=[]).all_passed
    assert not Result(cells=[CellResult("h", LATER, Fraction(2))]).all_passed
    assert Result(cells=[CellResult("t", PASSED, Fraction(0), Fraction(0))]).all_passed

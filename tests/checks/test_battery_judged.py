"""The same battery through the judge: the tests in one process, the kernels in another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.battery import GIVEN, PAIRS
from tito.grading.engine.warm import forking_works
from tito.grading.judge import CellResult, grade
from tito.notebook import Cell, Notebook


def _graded(kind: str, number: int, source: str) -> Cell:
    """A solution or test cell of the battery's notebook."""
    is_test = kind == "test"
    nbgrader = {
        "grade_id": f"{kind}-{number}",
        "grade": is_test,
        "solution": not is_test,
        "locked": is_test,
        "schema_version": 3,
        "task": False,
    }
    return Cell("code", source, {"nbgrader": nbgrader | ({"points": 1} if is_test else {})})


def _notebook(kernels: str) -> Notebook:
    """One notebook of all pairs, with the right or the wrong kernels."""
    cells = [Cell("code", GIVEN)]
    for number, pair in enumerate(PAIRS):
        cells.append(_graded("kernel", number, getattr(pair, kernels)))
        cells.append(_graded("test", number, pair.test))
    return Notebook(cells, path=Path("battery.ipynb"))


def _judged(kernels: str, engine: str) -> dict[str, CellResult]:
    result = grade(_notebook("right"), _notebook(kernels), engine=engine)
    return {pair.name: cell for pair, cell in zip(PAIRS, result.cells)}


@pytest.fixture(scope="module", params=["fork", "spawn"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "fork" and not forking_works():
        pytest.skip("this system cannot fork as the fork engine needs it")
    return request.param


@pytest.fixture(scope="module")
def right(engine: str) -> dict[str, CellResult]:
    return _judged("right", engine)


@pytest.fixture(scope="module")
def wrong(engine: str) -> dict[str, CellResult]:
    return _judged("wrong", engine)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_right_kernel_gets_its_point(pair, right):
    cell = right[pair.name]
    assert (cell.status, cell.points) == ("passed", 1), cell.message


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_wrong_kernel_gets_none_and_is_told_the_same(pair, wrong):
    cell = wrong[pair.name]
    assert cell.points == 0
    assert pair.says in cell.message

"""Tests put what they got into their words; what is in there may be an object of the student's."""

from __future__ import annotations

import pytest

from tests.grading.judge.samples import solution, test_cell
from tests.hostile.lesson import ROOMY, SHORT
from tito.grading.judge import grade
from tito.notebook import Cell, Notebook

OBJECT = (
    "import os\nclass V:\n    {}\n    __repr__ = __bool__ = __format__ = __str__\n"
    "def f(x): return V()\n"
)
ANSWERS = {
    "raises": OBJECT.format("def __str__(self, *a): raise KeyError('eaibh')"),
    "exits": OBJECT.format("def __str__(self, *a): os._exit(43)"),
    "loops": OBJECT.format("def __str__(self, *a):\n        while True: pass"),
    "is no text": OBJECT.format("def __str__(self, *a): return 40817"),
}
GIVEN = "from tito.checks import points"
TESTS = {
    "assertion": "got = f(3)\nassert isinstance(got, int), got",
    "exception": "raise ValueError(f(3))",
    "stub": "raise NotImplementedError(f(3))",
    "points": "got = f(3)\npoints(1, got)",
    "text": "got = f(3)\nassert isinstance(got, int), f'{got}'",
}


@pytest.mark.clock
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("answer", ANSWERS)
def test_words_that_ask_the_student_cost_their_own_test_only(answer, hidden, fastest):
    tests = [test_cell(name, source, 2, hidden=hidden) for name, source in TESTS.items()]
    fine = [solution("g", "def g(x): return x"), test_cell("fine", "assert g(3) == 3", 5)]
    master = Notebook([Cell("code", GIVEN), solution("f", "def f(x): ..."), *tests, *fine])
    own = Notebook([Cell("code", GIVEN), solution("f", ANSWERS[answer]), *tests, *fine])
    limits = SHORT if answer == "loops" else ROOMY
    result = grade(master, own, limits=limits, engine=fastest)
    assert result.status == "graded", result.reason
    points = {c.id: c.points for c in result.cells}
    assert points.pop("fine") == 5
    assert points.pop("points") in (0, 1)
    assert not any(points.values())
    if hidden:
        said = " ".join(c.message or "" for c in result.cells)
        assert not [telling for telling in ("eaibh", "43", "40817") if telling in said], said
    assert not [c.message for c in result.cells if "the judge ended" in (c.message or "")]

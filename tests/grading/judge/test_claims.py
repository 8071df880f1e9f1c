"""Claims in the judge: right work earns them, forged readings earn nothing, half is the most."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tito.grading.judge import grade
from tito.notebook import Notebook, read_py


def cell(text: str, **nbgrader: object) -> str:
    import json

    marks = {"schema_version": 3, "solution": False, "grade": False, "task": False, "locked": True}
    head = f"nbgrader={json.dumps(marks | nbgrader)}" if nbgrader else ""
    return f"# %% {head}\n{text.strip()}\n\n"


REFERENCE = """
def twice(x, out=None):
    return np.multiply(x, 2, out=out)
"""
WASTEFUL = """
def twice(x, out=None):
    y = x * 2
    if out is None:
        return y
    out[...] = y
    return out
"""
GIVEN = cell("import numpy as np\nfrom tito.checks import at_most, claim, expect_close, points")
VALUES = """
x = np.arange(5.0)
expect_close(twice(x), 2 * np.arange(5.0))
"""
CLAIM = """
x, out = np.arange(50_000.0), np.zeros(50_000)
peak = claim("peak_bytes", twice, x, out=out)
assert not out.any()
points(*at_most(peak, 100_000, points=1, unit="bytes"))
"""


def module(solution: str = REFERENCE, *, before: str = "", after: str = "", **points) -> Notebook:
    text = GIVEN + (cell(before) if before else "")
    text += cell(solution, grade_id="twice", solution=True, locked=False)
    text += cell(after) if after else ""
    text += cell(VALUES, grade_id="values", grade=True, points=points.get("values", 2))
    text += cell(CLAIM, grade_id="claim", grade=True, points=points.get("claim", 1))
    return read_py(text)


def graded(*args: str, **cells: str):
    result = grade(module(), module(*args, **cells))
    found = {c.id: c for c in result.cells}
    assert found["values"].points == 2, found["values"].message
    return found["claim"]


@pytest.mark.parametrize(
    "cells",
    [
        {},
        {
            "before": "def times(x, n, out):\n    return np.multiply(x, n, out=out)\nprint(1)",
            "solution": "import matplotlib\nplot = []\nprint(plot)\n"
            "def twice(x, out=None):\n    return times(x, 2, out)\n"
            "print(twice(np.ones(2)))\nplot.append(open)\n",
            "after": "1 / 0",
        },
    ],
    ids=["the reference", "helpers, prints, imports"],
)
def test_right_work_earns_the_claim(cells):
    found = graded(**cells)
    assert (found.status, found.points) == ("passed", 1), found.message


def test_waste_earns_the_values_alone():
    found = graded(WASTEFUL)
    assert (found.status, found.points) == ("failed", 0)
    assert "bytes: full points up to 100,000" in found.message


PATCH = "import tracemalloc\ntracemalloc.get_traced_memory = lambda: (0, 0)\n"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"solution": WASTEFUL, "before": PATCH}, "bytes: full points up to"),
        ({"solution": PATCH + WASTEFUL, "after": PATCH}, "bytes: full points up to"),
        (
            {"solution": WASTEFUL.replace("y = ", "import tracemalloc as t; t.a = 1; y = ")},
            "line 2: import of tracemalloc",
        ),
        (
            {
                "solution": "CHEAP = True\ndef twice(x, out=None):\n    if CHEAP: return out\n"
                "    return np.multiply(x, 2, out=out)\n",
                "after": "for CHEAP in [False]: pass",
            },
            "gives another result when nothing but its own cell",
        ),
        (
            {
                "solution": REFERENCE,
                "after": "def slow(x, out=None):\n    y = x * 2\n    return y if out is None else"
                " np.copyto(out, y) or out\nglobals()['twice'] = slow",
            },
            None,
        ),
        ({"solution": "import functools\ntwice = functools.partial(np.multiply, 2)"}, None),
        (
            {
                "solution": "import functools as t\n"
                "twice = t.reduce(lambda f, _: f, [t.partial(np.multiply, 2)])"
            },
            "cannot be",
        ),
        ({"solution": f"exec({WASTEFUL!r})"}, "none of its cells defines it"),
    ],
    ids=["patched above", "patched in the cell", "patched when called", "another behind the gate",
         "replaced where it is graded", "a part of NumPy's", "made by a call", "made of text"],
)  # fmt: skip
def test_forged_readings_earn_nothing(cells, message):
    found = graded(**cells)
    if message is None:  # what was read is right, and so is what was graded: nothing was gained
        assert found.status == "passed"
        return
    assert (found.status, found.points) == ("failed", 0)
    assert message in found.message


def test_claims_are_half_of_an_exercise_at_most():
    master = module(values=1, claim=1)
    assert grade(master, module()).points == 2
    greedy = module(values=1, claim=3)
    greedy.by_id("claim").source = CLAIM.replace("points=1", "points=3")
    result = grade(greedy, module())
    found = {c.id: c for c in result.cells}
    assert (found["claim"].status, found["claim"].points) == ("partial", Fraction(2))
    assert "half of an exercise at most: 2 of 3 points count" in found["claim"].message
    assert [d for d in result.deviations if d.startswith("claim: what is read inside")]


def test_a_hidden_claim_shows_no_text_of_the_students():
    master = module()
    master.by_id("claim").metadata["tags"] = ["hidden-tests"]
    found = {c.id: c for c in grade(master, module(f"exec({WASTEFUL!r})")).cells}["claim"]
    assert (found.points, found.message) == (0, "twice: there is nothing to read")


def test_a_claim_about_what_is_no_students_function_is_the_masters_mistake():
    master = module()
    master.by_id("claim").source = 'claim("peak_bytes", np.sort, np.ones(3))'
    found = {c.id: c for c in grade(master, module()).cells}["claim"]
    assert found.status == "error"
    assert "claim() reads a function of the student's, not sort" in found.message

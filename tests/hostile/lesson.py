"""A small module to attack, and hand-ins made from it. It asks for one thing of each kind:

scaled     : a new array;                      3 points seen + 2 hidden
fill_ramp  : writes into the array it is given; 2 points, part of the test hidden
Mean       : a class;                          2 points
bits       : a whole number;                   1 point
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tito.grading.judge import Result, grade
from tito.grading.limits import Limits
from tito.notebook import Cell, Notebook

MAX_POINTS = 10
# Seconds of CPU as in a course: a machine that stands still books some on whoever ran, and takes
# nobody's points by that.
ROOMY = Limits(idle=2, memory=1 << 30)
# What runs for ever need not do so for long.
SHORT = Limits(
    solution=1.5, given=1.5, extra=0.7, call=1, test=2, idle=2, wall_factor=15, memory=1 << 30
)

GIVEN = "import numpy as np\nSIZES = (1, 4, 9)"

RIGHT = {
    "scaled": "def scaled(x, factor):\n    return np.asarray(x) * factor\n",
    "ramp": "def fill_ramp(out):\n    for i in range(len(out)):\n        out[i] = 2 * i + 1\n",
    "mean": (
        "class Mean:\n    def __call__(self, values):\n"
        "        return float(sum(values)) / len(values)\n"
    ),
    "bits": "def bits(n):\n    return bin(n).count('1')\n",
}
WRONG = {
    "scaled": "def scaled(x, factor):\n    return np.zeros_like(x)\n",
    "ramp": "def fill_ramp(out):\n    pass\n",
    "mean": "class Mean:\n    def __call__(self, values):\n        return 0.25\n",
    "bits": "def bits(n):\n    return -1\n",
}
TESTS = {
    "scaled-test": (
        "for n in SIZES:\n"
        "    x = np.linspace(-1, 2, n)\n"
        "    want = x * 3\n"
        "    got = scaled(x, 3)\n"
        "    assert isinstance(got, np.ndarray) and got.shape == want.shape, 'an array like x'\n"
        "    assert np.allclose(got, want), 'every element times the factor'\n"
    ),
    "scaled-hidden": (
        "x = np.arange(50.0)[::-2] + 777.125\n"
        "want = x * -0.5\n"
        "got = scaled(x, -0.5)\n"
        "assert got.shape == want.shape, 'same shape'\n"
        "assert np.array_equal(got, want), 'also for negative factors'\n"
    ),
    "ramp-test": (
        "out = np.full(7, -1.0)\n"
        "fill_ramp(out)\n"
        "assert np.array_equal(out, np.arange(1.0, 15, 2)), 'odd numbers from 1 on'\n"
        "### BEGIN HIDDEN TESTS\n"
        "out = np.full(12, 5.0)[::2]\n"
        "fill_ramp(out)\n"
        "assert out.tolist() == [1, 3, 5, 7, 9, 11], 'also for slices'\n"
        "### END HIDDEN TESTS\n"
    ),
    "mean-test": (
        "mean = Mean()\n"
        "got = mean([1.0, 2.0, 6.0])\n"
        "assert abs(got - 3) < 1e-12, f'the mean of 1, 2, 6, not {got}'\n"
    ),
    "bits-test": "assert [bits(n) for n in (0, 5, 255)] == [0, 2, 8], 'the ones of n'\n",
}
POINTS = {"scaled-test": 3, "scaled-hidden": 2, "ramp-test": 2, "mean-test": 2, "bits-test": 1}
_ORDER = [
    ("scaled", ["scaled-test", "scaled-hidden"]),
    ("ramp", ["ramp-test"]),
    ("mean", ["mean-test"]),
    ("bits", ["bits-test"]),
]


def _solution(name: str, source: str) -> Cell:
    settings = {"grade": False, "grade_id": name, "locked": False, "solution": True}
    return Cell("code", source, {"nbgrader": {**settings, "schema_version": 3, "task": False}})


def _test(name: str, source: str) -> Cell:
    settings = {"grade": True, "grade_id": name, "locked": True, "solution": False}
    settings |= {"points": POINTS[name], "schema_version": 3, "task": False}
    tags = {"tags": ["hidden-tests"]} if name.endswith("-hidden") else {}
    return Cell("code", source, {"nbgrader": settings, **tags})


def _visible(name: str) -> str:
    if name.endswith("-hidden"):
        return "# 2 points, checked after hand-in"
    return re.sub(r"### BEGIN HIDDEN.*### END HIDDEN TESTS\n", "", TESTS[name], flags=re.DOTALL)


def master() -> Notebook:
    """The module with its answers and all tests."""
    cells = [Cell("markdown", "# Small things"), Cell("code", GIVEN)]
    for name, tests in _ORDER:
        source = RIGHT[name] if name != "ramp" else "#| writes: out\n" + RIGHT[name]
        cells.append(_solution(name, source))
        cells += [_test(t, TESTS[t]) for t in tests]
    return Notebook(cells, path=Path("lesson.ipynb"))


def hand_in(
    answers: dict[str, str] = WRONG, *, first: str = "", last: str = "", **replaced: str
) -> Notebook:
    """What a student hands in: the given answers, some of them replaced.

    first, last : code put at the beginning and at the end of the first solution cell
    """
    answers = {**answers, **replaced}
    cells = [Cell("markdown", "# Small things"), Cell("code", GIVEN)]
    for name, tests in _ORDER:
        cells.append(_solution(name, answers[name]))
        cells += [_test(t, _visible(t)) for t in tests]
    own = Notebook(cells, path=Path("lesson.ipynb"))
    place(own, "scaled").source = f"{first}\n{answers['scaled']}\n{last}"
    return own


def place(notebook: Notebook, name: str) -> Cell:
    """The cell with this grade_id."""
    return next(c for c in notebook.cells if c.grade_id == name)


def with_cell(notebook: Notebook, before: str, source: str) -> Notebook:
    """The notebook with one more code cell, above the cell `before`."""
    at = next(i for i, c in enumerate(notebook.cells) if c.grade_id == before)
    cells = [*notebook.cells[:at], Cell("code", source), *notebook.cells[at:]]
    return Notebook(cells, path=notebook.path)


def document(notebook: Notebook) -> dict[str, Any]:
    """The JSON of the notebook's file, to be damaged."""
    cells = [
        {"cell_type": c.kind, "id": f"cell-{i}", "metadata": c.metadata, "source": c.source}
        | ({"outputs": [], "execution_count": None} if c.kind == "code" else {})
        for i, c in enumerate(notebook.cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def file_of(changed: dict[str, Any]) -> bytes:
    return json.dumps(changed).encode()


def graded(own: Notebook | bytes, engine: str, **options: Any) -> Result:
    """The hand-in graded against the module, within limits that no right answer meets."""
    options.setdefault("limits", ROOMY)
    return grade(master(), own, engine=engine, **options)


def told(result: Result) -> str:
    """Everything that a result says, as one text."""
    return json.dumps(result.to_json(), ensure_ascii=False)


def earned(result: Result) -> dict[str, int]:
    """Points by cell, of those that earned any."""
    return {c.id: int(c.points) for c in result.cells if c.points}

"""A small assignment and hand-ins made from it, for the tests of the judge."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from tito.notebook import Cell, Notebook

CLAMP = "def clamp(x, low, high):\n    return min(max(x, low), high)\n"
CLAMP_WRONG = "def clamp(x, low, high):\n    return x\n"
DOUBLE = "def double_all(values):\n    return [2 * v for v in values]\n"
DOUBLE_WRONG = "def double_all(values):\n    return list(values)\n"
STUB = "    # YOUR CODE HERE\n    raise NotImplementedError()\n"


def solution(grade_id: str, source: str) -> Cell:
    meta = {"grade": False, "grade_id": grade_id, "solution": True, "locked": False}
    return Cell("code", source, {"nbgrader": {**meta, "schema_version": 3, "task": False}})


def test_cell(grade_id: str, source: str, points: object = 2, hidden: bool = False) -> Cell:
    meta = {"grade": True, "grade_id": grade_id, "solution": False, "locked": True}
    meta = {**meta, "schema_version": 3, "task": False, "points": points}
    tags = {"tags": ["hidden-tests"]} if hidden else {}
    return Cell("code", source, {"nbgrader": meta, **tags})


test_cell.__test__ = False  # not a test of pytest's


def master(clamp: str = CLAMP, double: str = DOUBLE) -> Notebook:
    """Two exercises, 7 points: 2 + 1 (hidden) for clamp, 4 for double_all."""
    cells = [
        Cell("markdown", "# Small things"),
        Cell("code", "import math\n\nLIMIT = 10"),
        solution("clamp", clamp),
        test_cell("clamp-test", 'assert clamp(12, 0, LIMIT) == 10, "above the upper bound"'),
        test_cell("clamp-hidden", "assert clamp(-7, -3, 3) == -3", 1, hidden=True),
        solution("double", double),
        test_cell("double-test", 'assert double_all([1, 4]) == [2, 8], "twice each"', 4),
    ]
    return Notebook(cells, path=Path("small.ipynb"))


def hand_in(clamp: str = CLAMP, double: str = DOUBLE) -> Notebook:
    """What a student who changed nothing else hands in."""
    own = master(clamp, double)
    own.cells[4].source = "# checked after hand-in"
    return own


def as_file(notebook: Notebook, **document) -> bytes:
    """The notebook as the bytes of an .ipynb file, odd metadata kept."""
    cells = [
        {
            "cell_type": c.kind,
            "id": c.id or f"cell-{i}",
            "metadata": c.metadata,
            "source": c.source,
            "outputs": c.outputs,
            "execution_count": None,
        }
        for i, c in enumerate(notebook.cells)
    ]
    base = {"cells": cells, "metadata": notebook.metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({**base, **document}).encode()


def without_metadata(notebook: Notebook) -> Notebook:
    own = copy.deepcopy(notebook)
    for cell in own.cells:
        cell.metadata = {}
    return own

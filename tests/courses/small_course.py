"""The small course of the tests, and hand-ins for its module."""

from __future__ import annotations

from pathlib import Path

from tito.notebook import Notebook, Role, load

COURSE = Path(__file__).parent / "small"
MODULE = COURSE / "modules" / "01_small" / "01_small.py"


def master(*exercises: str) -> Notebook:
    """The module with its solutions and hidden tests.

    exercises : grade_ids of the solution cells to keep with their tests; all if none is given
    """
    whole = load(MODULE)
    kept, current = [], None
    for cell in whole.cells:
        if cell.role is Role.SOLUTION:
            current = cell.grade_id
        belongs = cell.role in (Role.SOLUTION, Role.TEST)
        if not exercises or not belongs or current in exercises:
            kept.append(cell)
    whole.cells[:] = kept
    return whole


def hand_in(*exercises: str, **solutions: str) -> Notebook:
    """The module with other sources in the solution cells named; the others stay right."""
    own = master(*exercises)
    for name, source in solutions.items():
        own.by_id(name).source = source
    return own

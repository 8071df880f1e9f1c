"""Which questions of a module are others than they were: what a mended test makes stale.

A question is a solution with its tests, named by the solution's grade_id; an answer that a person
grades, and a test above every solution, are questions of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from tito.forbid import tree_of
from tito.grading.judge.text import normal, visible
from tito.notebook import Cell, Notebook, Role
from tito.notebook.names import bound, used
from tito.strip import strip_solutions


def question_of(master: Notebook) -> dict[str, str]:
    """grade_id of each graded cell and solution -> the question it belongs to."""
    return {c.grade_id: name for name, cells in questions(master).items() for c in cells}


def questions(master: Notebook) -> dict[str, list[Cell]]:
    """The cells of each question, solutions as students get them, in the module's order."""
    found: dict[str, list[Cell]] = {}
    current = ""
    for cell in strip_solutions(master).cells:
        if not cell.grade_id:
            continue
        if cell.role is Role.SOLUTION:
            current = cell.grade_id
            found.setdefault(current, []).append(cell)
        elif cell.manual:
            found.setdefault(cell.grade_id, []).append(cell)
        elif cell.role is Role.TEST:
            found.setdefault(current or cell.grade_id, []).append(cell)
    return found


def changed_questions(before: Notebook, after: Notebook) -> set[str]:
    """The questions of `after` whose points may be others than `before` gave.

    What counts: code and points of tests, directives and names of solutions (whose own code is
    replaced by the student's), and given code that they lean on. Texts and layout do not.
    """
    old, new = questions(before), questions(after)
    given = _changed_given(before, after)
    return {
        name
        for name, cells in new.items()
        if [_facts(c) for c in cells] != [_facts(c) for c in old.get(name, [])]
        or _leans_on(given, [*cells, *_solutions(after, cells)])
    }


def _facts(cell: Cell) -> tuple[Any, ...]:
    """What of a cell can decide points or what is said about them."""
    code = (_code(cell.source), _code(visible(cell))) if cell.kind == "code" else ()
    directives = [(d.name, d.value) for d in cell.directives]
    return (cell.grade_id, cell.role, cell.points, cell.manual, cell.hidden, directives, code)


def _code(source: str) -> str:
    """What code says, without layout and comments."""
    tree = tree_of(source)
    try:
        return normal(source) if tree is None else ast.dump(tree)
    except RecursionError:
        return normal(source)


def _solutions(master: Notebook, cells: Iterable[Cell]) -> list[Cell]:
    """The same cells as the master has them: the reference may lean on more than its stub."""
    return [own for c in cells if (own := master.by_id(c.grade_id or ""))]


# Everything below may lean on a given cell that binds no name: it can only be meant to act.
_ALL = "*"


def _changed_given(before: Notebook, after: Notebook) -> set[str]:
    """Names of given code that says something else now, and of all given code that uses them."""
    old, new = (
        [c for c in m.cells if c.role is Role.GIVEN and c.kind == "code"] for m in (before, after)
    )
    texts_before, texts_after = ({_code(c.source) for c in cells} for cells in (old, new))
    changed = [c for c in old if _code(c.source) not in texts_after]
    changed += [c for c in new if _code(c.source) not in texts_before]
    names: set[str] = set()
    for cell in changed:
        own = set().union(*bound(cell.source))
        if not own and _code(cell.source) != _code(""):
            return {_ALL}
        names |= own
    return _with_users(names, new)


def _with_users(names: set[str], given: list[Cell]) -> set[str]:
    """The names and those of given code that uses them, by any number of steps."""
    while True:
        more = {
            name
            for cell in given
            if used(cell.source) & names
            for name in set().union(*bound(cell.source))
        }
        if more <= names:
            return names
        names = names | more


def _leans_on(names: set[str], cells: Iterable[Cell]) -> bool:
    if _ALL in names:
        return True
    return any(used(c.source) & names for c in cells if c.kind == "code")

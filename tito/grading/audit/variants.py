"""Hand-ins made from a master: some solution cells replaced, the rest the reference."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable

from tito import strip
from tito.forbid import python_source
from tito.notebook import Cell, Notebook, Role
from tito.notebook.model import Exercise, exercises
from tito.notebook.names import bound, used


def exercise_id(exercise: Exercise) -> str:
    return exercise.solution.grade_id or exercise.solution.label


def hand_in(master: Notebook, sources: dict[str, str]) -> Notebook:
    """The master as a student's notebook, with these solution cells (grade_id -> source)."""
    cells = copy.deepcopy(master.cells)
    for cell in cells:
        if cell.role is Role.SOLUTION and (cell.grade_id or cell.label) in sources:
            cell.source = sources[cell.grade_id or cell.label]
    return Notebook(cells, dict(master.metadata), master.path)


def only_tests_of(master: Notebook, wanted: Iterable[str], tests: Iterable[str] = ()) -> Notebook:
    """The master with the tests of these exercises and these single tests (by grade_id) alone,
    and without what is never graded."""
    wanted, tests = set(wanted), set(tests)
    drop = {
        t.index
        for e in exercises(master)
        if exercise_id(e) not in wanted
        for t in e.tests
        if t.grade_id not in tests
    }
    drop |= {c.index for c in master.of_role(Role.MEASURE, Role.TEXT, Role.REFLECTION)}
    cells = [copy.deepcopy(c) for c in master.cells if c.index not in drop]
    return Notebook(cells, dict(master.metadata), master.path)


def rounds(master: Notebook) -> list[list[str]]:
    """Exercises that can be wrong in one hand-in without touching each other's tests.

    A solution that another one uses has a round of its own; all the others share one.
    """
    found = exercises(master)
    names = {exercise_id(e): bound(python_source(e.solution.source))[0] for e in found}
    alone = [
        one
        for one in names
        if any(
            used(python_source(e.solution.source)) & names[one]
            for e in found
            if exercise_id(e) != one
        )
    ]
    shared = [one for one in names if one not in alone]
    return [part for part in (shared, *([one] for one in alone)) if part]


# A blank makes the source of a solution cell from the cell; None where it does not apply.
Blank = Callable[[Cell], str | None]


def returns_none(cell: Cell) -> str:
    """Every body is `return None`."""
    return _with_bodies(cell, lambda node: ast.Return(ast.Constant(None)))


def returns_first_argument(cell: Cell) -> str:
    """Every body hands back what it was given first."""

    def body(node: ast.FunctionDef) -> ast.Return:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = [a.arg for a in arguments if a.arg not in ("self", "cls")]
        return ast.Return(ast.Name(names[0], ast.Load()) if names else ast.Constant(None))

    return _with_bodies(cell, body)


def returns_zeros(cell: Cell) -> str:
    """The reference, with every number of its results replaced by zero: the right shapes.

    What it writes into its arguments (`#| writes:`) becomes zero too, and so does what a function
    that it makes gives and writes.
    """
    directive = cell.directive("writes")
    writes = tuple(directive.words) if directive else ()
    tree = ast.parse(python_source(cell.source))
    written = _written_by_students(cell, tree)
    lines = [cell.source, "", ZEROS]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node in written:
            lines.append(f"{node.name} = _all_zero({node.name}, {writes!r})")
        elif isinstance(node, ast.ClassDef):
            methods = [m for m in node.body if m in written and not m.name.startswith("__")]
            lines += [
                f"{node.name}.{m.name} = _all_zero({node.name}.{m.name}, {writes!r})"
                for m in methods
            ]
    return "\n".join(lines) + "\n"


ZEROS = """
def _all_zero(function, writes):
    import functools
    import inspect

    import numpy

    def zero(value):
        if isinstance(value, numpy.ndarray):
            return numpy.zeros_like(value)
        if isinstance(value, numpy.generic | bool | int | float | complex):
            return type(value)(0)
        if isinstance(value, tuple | list):
            return type(value)(zero(v) for v in value)
        if isinstance(value, slice):
            return slice(zero(value.start), zero(value.stop), zero(value.step))
        if isinstance(value, dict):
            return {key: zero(v) for key, v in value.items()}
        if inspect.isfunction(value) or hasattr(value, "py_func"):
            return _all_zero(value, writes)
        return "" if isinstance(value, str) else value

    @functools.wraps(function)
    def zeros(*args, **kwargs):
        result = function(*args, **kwargs)
        given = inspect.signature(function).bind(*args, **kwargs).arguments if writes else {}
        for name in writes:
            if isinstance(given.get(name), numpy.ndarray):
                given[name][...] = 0
        return zero(result)

    # The Python function behind one that Numba compiled.
    if hasattr(function, "py_func"):
        zeros.py_func = _all_zero(function.py_func, writes)
    return zeros
"""

BLANKS: dict[str, Blank] = {
    "bodies that return None": returns_none,
    "bodies that return their first argument": returns_first_argument,
    "zeros of the right shape": returns_zeros,
}


def _with_bodies(cell: Cell, body: Callable[[ast.FunctionDef], ast.stmt]) -> str:
    tree = ast.parse(python_source(cell.source))
    for node in _written_by_students(cell, tree):
        node.body = [body(node)]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _written_by_students(cell: Cell, tree: ast.Module) -> list[ast.FunctionDef]:
    """The functions and methods of a solution cell that reach into a solution region."""
    regions = strip.regions(cell)
    found = []
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inner:
            if isinstance(one, ast.FunctionDef) and one.name != "__init__":
                touched = any(one.lineno <= r.end and r.begin <= one.end_lineno for r in regions)
                if touched or not regions:
                    found.append(one)
    return found

"""A notebook with what the rules ask of it: syntax trees, and who defines which name."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tito.notebook import Cell, Notebook, Role
from tito.notebook.model import Exercise, exercises
from tito.notebook.names import bound, used

# Names that are there before the first cell runs.
AMBIENT = frozenset(dir(builtins)) | {
    *("__name__", "__file__", "__doc__", "__annotations__"),
    *("display", "get_ipython", "In", "Out", "_"),
}


@dataclass(frozen=True)
class Names:
    """What one cell defines, imports and uses at module level."""

    assigned: frozenset[str]
    imported: frozenset[str]
    used: frozenset[str]

    @property
    def defined(self) -> frozenset[str]:
        return self.assigned | self.imported

    @property
    def needed(self) -> frozenset[str]:
        """Names that have to come from another cell."""
        return self.used - self.defined - AMBIENT


class Module:
    """A notebook under the eyes of the rules. `text` is the .py as written, where it is one."""

    def __init__(self, notebook: Notebook, text: str | None = None) -> None:
        self.notebook = notebook
        self.text = text
        self._names = {c.index: _names(c) for c in notebook.cells}
        self._trees = {c.index: _tree(c) for c in notebook.cells}
        self._nodes: dict[int, list[ast.AST]] = {}

    @property
    def cells(self) -> list[Cell]:
        return self.notebook.cells

    @property
    def code(self) -> list[Cell]:
        return [c for c in self.cells if c.kind == "code"]

    def of(self, *roles: Role) -> list[Cell]:
        return self.notebook.of_role(*roles)

    @property
    def tests(self) -> list[Cell]:
        return self.of(Role.TEST)

    @property
    def solutions(self) -> list[Cell]:
        return self.of(Role.SOLUTION)

    @cached_property
    def exercises(self) -> list[Exercise]:
        return exercises(self.notebook)

    def names(self, cell: Cell) -> Names:
        return self._names[cell.index]

    def tree(self, cell: Cell) -> ast.Module:
        """The cell's syntax tree; an empty one where it does not parse (a rule of its own)."""
        return self._trees[cell.index]

    def nodes(self, cell: Cell) -> list[ast.AST]:
        """All of its nodes, in the order of `ast.walk`: many rules go through them."""
        if cell.index not in self._nodes:
            self._nodes[cell.index] = list(ast.walk(self.tree(cell)))
        return self._nodes[cell.index]

    def above(self, cell: Cell, *roles: Role) -> list[Cell]:
        return [c for c in self.of(*roles) if c.index < cell.index]

    def assigned(self, cells: Iterable[Cell]) -> set[str]:
        return {n for c in cells for n in self.names(c).assigned}

    def defined(self, cells: Iterable[Cell]) -> set[str]:
        return {n for c in cells for n in self.names(c).defined}

    def first_with(self, name: str, cells: Iterable[Cell], imported: bool = False) -> Cell | None:
        """The first of `cells` that defines (or only imports) `name`."""
        for cell in cells:
            names = self.names(cell)
            if name in (names.imported if imported else names.defined):
                return cell
        return None

    @cached_property
    def solution_names(self) -> set[str]:
        return self.assigned(self.solutions)

    @cached_property
    def given_functions(self) -> dict[str, ast.FunctionDef]:
        """Functions that given cells define at their top level."""
        return {
            node.name: node
            for cell in self.of(Role.GIVEN)
            for node in self.tree(cell).body
            if isinstance(node, ast.FunctionDef)
        }

    def line_of(self, cell: Cell, name: str, binding: bool = False) -> int | None:
        """The first line of `cell` that names `name`; with `binding`, that gives it a value."""
        wanted = ast.Store if binding else ast.expr_context
        lines = [
            n.lineno
            for n in self.nodes(cell)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, wanted)
        ]
        return min(lines, default=None)


def _names(cell: Cell) -> Names:
    if cell.kind != "code":
        return Names(frozenset(), frozenset(), frozenset())
    assigned, imported = bound(cell.source)
    return Names(frozenset(assigned), frozenset(imported), frozenset(used(cell.source)))


def _tree(cell: Cell) -> ast.Module:
    if cell.kind == "code":
        try:
            return ast.parse(cell.source)
        except (SyntaxError, ValueError):
            pass
    return ast.Module([], [])


def public_functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Functions defined at the top level of a cell whose name is no private one."""
    return [n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def called_name(node: ast.AST) -> str | None:
    """Last part of what a call calls: `np.allclose(..)` -> "allclose"."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else None

"""What names and expressions of a notebook stand for."""

from __future__ import annotations

import ast
import bisect
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .bindings import FUNCTIONS, Import, own_names
from .cells import Cell


@dataclass(frozen=True)
class Scope:
    """Where a piece of code stands.

    cell  : its cell
    at    : the cell from which on global names are looked up: its own for what runs at once, the
            exercise's for the body of a function, which runs when the exercise is tested
    local : the names of the functions around it
    owner, self_name : the class around a method, and what the method calls its object
    """

    cell: int
    at: int
    local: Mapping[str, list[ast.AST | Import]]
    owner: ast.ClassDef | None = None
    self_name: str | None = None

    def inside(self, node: ast.AST) -> Scope:
        """The scope of a function's, lambda's or comprehension's body."""
        return replace(self, local={**self.local, **own_names(node)})


@dataclass
class _Paths:
    """The library paths that a name may stand for, as far as they are known."""

    table: Any
    paths: set[str] = field(default_factory=set)
    settled: bool = False
    changed: bool = False

    def add(self, paths: Iterable[str]) -> None:
        before = len(self.paths)
        self.paths |= set(paths)
        self.changed = self.changed or len(self.paths) > before

    def take_change(self) -> bool:
        changed, self.changed = self.changed, False
        return changed


class Names:
    """The global names of all cells, and the library paths behind them."""

    def __init__(self, cells: list[Cell]) -> None:
        self.cells = cells
        self._stars = {star for cell in cells for star in cell.stars}
        self._defining = _cells_by_name(cell.defined for cell in cells)
        self._changing = _cells_by_name(cell.changed for cell in cells)
        self._known: dict[tuple, _Paths] = {}
        self._round: set[tuple] = set()

    def give_up(self) -> None:
        """A question went too deep and was not answered."""
        self._round.clear()

    def alive(self, name: str, at: int) -> list[tuple[int, ast.AST | Import]]:
        """The global definitions of a name that hold from cell `at` on, with their cells."""
        defining = self._defining.get(name, [])
        first = max(bisect.bisect_right(defining, at) - 1, 0)
        found = [(i, node) for i in defining[first:] for node in self.cells[i].defined[name]]
        changing = self._changing.get(name, [])
        return found + [(i, node) for i in changing for node in self.cells[i].changed[name]]

    def member(self, node: ast.AST, scope: Scope) -> tuple[ast.AST | None, str | None]:
        """(base, name) of an access; the name is None where it is computed."""
        if isinstance(node, ast.Attribute):
            return node.value, node.attr
        if isinstance(node, ast.Call) and len(node.args) >= 2:
            named = "builtins.getattr" in self.paths(node.func, scope)
            return (node.args[0], self.text(node.args[1], scope)) if named else (None, None)
        if isinstance(node, ast.Subscript):
            holder = node.value
            if isinstance(holder, ast.Attribute) and holder.attr == "__dict__":
                return holder.value, self.text(node.slice, scope)
            one = isinstance(holder, ast.Call) and holder.args
            if one and "builtins.vars" in self.paths(holder.func, scope):
                return holder.args[0], self.text(node.slice, scope)
        return None, None

    def paths(self, node: ast.AST, scope: Scope) -> set[str]:
        """The library paths that an expression may stand for: {"numpy.linalg"}; else empty."""
        if isinstance(node, ast.Name):
            return self._name_paths(node.id, scope)
        if isinstance(node, ast.Subscript):
            return self._subscript_paths(node, scope)
        if isinstance(node, ast.Call):
            called = self.paths(node.func, scope)
            if called & {"builtins.__import__", "importlib.import_module"} and node.args:
                text = self.text(node.args[0], scope)
                return {text} if text else {"builtins.eval"}
        choices = _choices(node)
        if choices:
            return set().union(*(self.paths(c, scope) for c in choices))
        base, name = self.member(node, scope)
        if base is None or name is None:
            return set()
        return {f"{path}.{name}" for path in self.paths(base, scope)}

    def _subscript_paths(self, node: ast.Subscript, scope: Scope) -> set[str]:
        """sys.modules["numpy"], globals()["np"], np.__dict__["dot"], or one item of a literal."""
        holder = node.value
        table = self.paths(holder, scope)
        text = self.text(node.slice, scope)
        if "sys.modules" in table:
            return {text} if text else set()
        name = self.looked_up(node, scope)
        if name is not None:
            return self._name_paths(name, replace(scope, local={}))
        base, name = self.member(node, scope)
        if base is not None and name is not None:
            return {f"{path}.{name}" for path in self.paths(base, scope)}
        return table

    def looked_up(self, node: ast.AST, scope: Scope) -> str | None:
        """The global name in globals()["name"] or globals().get("name")."""
        key: ast.AST | None = None
        if isinstance(node, ast.Subscript):
            table, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            table, key = node.func.value, node.args[0]
        if not isinstance(key, ast.expr) or not isinstance(table, ast.Call) or table.args:
            return None
        called = self.paths(table.func, scope)
        tables = {"builtins.globals", "builtins.locals", "builtins.vars"}
        return self.text(key, scope) if called & tables else None

    def _name_paths(self, name: str, scope: Scope) -> set[str]:
        """The same for a name, worked out once.

        Names may be made from each other in a circle, so the answer is a least fixed point: in a
        round each name is looked at once, with what is known of the others so far, and rounds are
        repeated until nothing is added.
        """
        table = scope.local if name in scope.local else None
        key = (name, id(table) if table is not None else scope.at)
        # The table is kept with the answer, so that its id is not given to another one.
        entry = self._known.setdefault(key, _Paths(table))
        if entry.settled or key in self._round:
            return entry.paths
        outermost = not self._round
        while True:
            self._round.add(key)
            entry.add(path for path in self._bound_paths(name, scope) if path.count(".") < 8)
            if not outermost:
                return entry.paths
            members = [self._known[k] for k in self._round]
            self._round.clear()
            if not any([member.take_change() for member in members]):
                break
        for member in members:
            member.settled = True
        return entry.paths

    def _bound_paths(self, name: str, scope: Scope) -> set[str]:
        local = name in scope.local
        nodes = [(scope.cell, n) for n in scope.local[name]] if local else None
        if nodes is None:
            nodes = self.alive(name, scope.at)
            if not nodes and name == "get_ipython":
                return {"IPython.get_ipython"}
            if not nodes:
                found = {f"{star}.{name}" for star in self._stars}
                return found | ({f"builtins.{name}"} if hasattr(builtins, name) else set())
        paths: set[str] = set()
        for cell, node in nodes:
            if isinstance(node, Import):
                paths.add(node.path)
            else:
                paths |= self.paths(node, scope if local else Scope(cell, cell, {}))
        return paths

    def text(self, node: ast.AST, scope: Scope, depth: int = 0) -> str | None:
        """The string that an expression is, where it can be read; None otherwise."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if depth > 20:
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self.text(side, scope, depth + 1) for side in (node.left, node.right)]
            return "".join(parts) if None not in parts else None
        if isinstance(node, ast.JoinedStr):
            parts = [self.text(part, scope, depth + 1) for part in node.values]
            return "".join(parts) if None not in parts else None
        if isinstance(node, ast.FormattedValue):
            return self.text(node.value, scope, depth + 1)
        if isinstance(node, ast.Name):
            bound = scope.local.get(node.id) or [n for _, n in self.alive(node.id, scope.at)]
            if len(bound) == 1 and isinstance(bound[0], ast.AST):
                return self.text(bound[0], scope, depth + 1)
        return None

    def is_own_instance(self, base: ast.AST, name: str, scope: Scope) -> bool:
        """Whether `base` is an object of a class of the notebook that itself defines `name`."""
        if isinstance(base, ast.Call):
            made = self._class_called(base, scope)
            return made is not None and _defines(made, name)
        if not isinstance(base, ast.Name):
            return False
        if base.id == scope.self_name and scope.owner is not None:
            return _defines(scope.owner, name)
        local = base.id in scope.local
        values = scope.local[base.id] if local else [n for _, n in self.alive(base.id, scope.at)]
        classes = [self._class_called(value, scope) for value in values]
        return bool(classes) and all(c is not None and _defines(c, name) for c in classes)

    def _class_called(self, value: ast.AST | Import, scope: Scope) -> ast.ClassDef | None:
        """The class of the notebook that `value` makes an instance of."""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return None
        name = value.func.id
        nodes = scope.local.get(name) or [n for _, n in self.alive(name, scope.at)]
        classes = [n for n in nodes if isinstance(n, ast.ClassDef)]
        return classes[0] if len(classes) == len(nodes) == 1 else None


def _cells_by_name(tables: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """For each name the indices of the cells whose table has it, in order."""
    cells: dict[str, list[int]] = {}
    for index, table in enumerate(tables):
        for name in table:
            cells.setdefault(name, []).append(index)
    return cells


def _choices(node: ast.AST) -> list[ast.expr]:
    """The expressions of which one may be the value: of a condition, a list, a dict, a :=."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    return [node.value] if isinstance(node, (ast.NamedExpr, ast.Starred)) else []


def _defines(owner: ast.ClassDef, name: str) -> bool:
    """Whether a class without bases defines a method or sets an attribute of this name."""
    if owner.bases or owner.keywords:
        return False
    for node in ast.walk(owner):
        if isinstance(node, FUNCTIONS) and node.name == name:
            return True
        stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if stored and node.attr == name:
            return True
    return False

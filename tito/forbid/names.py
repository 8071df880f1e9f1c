"""What names and expressions of a notebook stand for."""

from __future__ import annotations

import ast
import bisect
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .bindings import (
    COMPREHENSIONS,
    FUNCTIONS,
    Import,
    certain,
    declared_global,
    defaults,
    deleted,
    own_names,
)
from .cells import Cell
from .hiding import NOTEBOOK, NUMPY_BY_ARRAY, OWN_NAMES, OWN_TABLE_ATTRIBUTES, OWN_TABLES
from .sets import ARRAY_NAMES
from .trees import walk

if TYPE_CHECKING:
    from .package import Package


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
        local = {**self.local, **own_names(node)}
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            for name, value in defaults(node.args).items():
                local[name] = [*local[name], Outer(value, self)]
        elif isinstance(node, COMPREHENSIONS):
            for place, generator in enumerate(node.generators):
                source = Outer(generator.iter, self) if place == 0 else generator.iter
                for part in ast.walk(generator.target):
                    if isinstance(part, ast.Name):
                        local[part.id] = [*local[part.id], source]
        for name in declared_global(node):
            local.pop(name, None)
        return replace(self, local=local)


class Outer(ast.AST):
    """An expression that stands in a scope around the one that has a name for it."""

    def __init__(self, value: ast.expr, scope: Scope) -> None:
        super().__init__()
        self.value = value
        self.scope = scope


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


_LOCAL_TABLES = {"builtins.locals", "builtins.vars"}
LOOKING_UP = ("get", "pop", "setdefault", "__getitem__")
_IMPORTING = {"builtins.__import__", "importlib.__import__", "importlib.import_module"}


def is_table(path: str) -> bool:
    """Whether a path stands for a dictionary with all names of a module, or with all modules."""
    return path == "sys.modules" or path.endswith(".__dict__")


def is_own(path: str) -> bool:
    """Whether a path stands for the notebook itself, or for the table of its names."""
    return path.removesuffix(".__dict__") in (NOTEBOOK, "__main__")


class Names:
    """The global names of all cells, and the library paths behind them."""

    def __init__(self, cells: list[Cell], package: Package) -> None:
        self.cells = cells
        self.package = package
        self._stars = [(i, line, star) for i, cell in enumerate(cells) for star, line in cell.stars]
        self._defining = _cells_by_name(cell.defined for cell in cells)
        self._changing = _cells_by_name(cell.changed for cell in cells)
        self._deleted = deleted(part for cell in cells for part in cell.body)
        self._handing = _cells_by_name(cell.handed for cell in cells)
        self._known: dict[tuple, _Paths] = {}
        self._round: set[tuple] = set()
        self._made: dict[ast.AST, list[tuple[ast.AST, Scope]]] = {}

    def give_up(self) -> None:
        """A question went too deep and was not answered."""
        self._round.clear()

    def alive(self, name: str, at: int) -> list[tuple[int, ast.AST | Import]]:
        """What a global name means from cell `at` on: definitions, and what is put into it."""
        defined = self._definitions(name, at)
        changing = self._changing.get(name, [])
        changed = [(i, node) for i in changing for node in self.cells[i].changed[name]]
        if defined and all(isinstance(node, Import) for _, node in defined):
            return defined + changed  # np.exp(x, out=y) puts nothing into NumPy
        handing = self._handing.get(name, [])
        handed = [(i, node) for i in handing for node in self.cells[i].handed[name]]
        return defined + changed + handed

    def _definitions(self, name: str, at: int) -> list[tuple[int, ast.AST | Import]]:
        """The global definitions of a name that may hold from cell `at` on, with their cells."""
        defining = self._defining.get(name, [])
        before = range(bisect.bisect_right(defining, at))
        sure = (k for k in reversed(before) if name in self.cells[defining[k]].certain)
        first = next(sure, 0)
        return [(i, node) for i in defining[first:] for node in self.cells[i].defined[name]]

    def member(self, node: ast.AST, scope: Scope) -> tuple[ast.AST | None, str | None]:
        """(base, name) of an access; the name is None where it is computed."""
        if isinstance(node, ast.Attribute):
            return node.value, node.attr
        if self._calls(node, "builtins.getattr", 2, scope):
            return node.args[0], self.text(node.args[1], scope)
        table, key = self.entry(node)
        if isinstance(table, ast.Attribute) and table.attr == "__dict__":
            return table.value, self.text(key, scope)
        if self._calls(table, "builtins.vars", 1, scope):
            return table.args[0], self.text(key, scope)
        return None, None

    def _calls(self, node: ast.AST | None, path: str, least: int, scope: Scope) -> bool:
        """Whether a node may call that function, with at least so many arguments."""
        call = isinstance(node, ast.Call) and len(node.args) >= least
        return call and path in self.paths(node.func, scope)

    @staticmethod
    def entry(node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
        """(table, key) of table[key] and table.get(key)."""
        if isinstance(node, ast.Subscript):
            return node.value, node.slice
        if _called_method(node) in LOOKING_UP and node.args:
            return node.func.value, node.args[0]
        return None, None

    def paths(self, node: ast.AST, scope: Scope) -> set[str]:
        """The library paths that an expression may stand for: {"numpy.linalg"}; else empty."""
        if isinstance(node, ast.Name):
            return self._name_paths(node.id, scope)
        if isinstance(node, Outer):
            return self.paths(node.value, node.scope)
        if isinstance(node, ast.Call):
            called = self.paths(node.func, scope)
            if called & _IMPORTING:
                return self._imported(node, scope)
            if node.args and "builtins.vars" in called:
                return {f"{path}.__dict__" for path in self.paths(node.args[0], scope)}
            if called & OWN_TABLES and not node.args and _sees_globals(called, scope):
                return {OWN_NAMES}
            if _called_method(node) == NUMPY_BY_ARRAY:
                return {"numpy"}
        if self.entry(node)[0] is not None:
            return self._entry_paths(node, scope)
        choices = _choices(node)
        if choices:
            return set().union(*(self.paths(c, scope) for c in choices))
        base, name = self.member(node, scope)
        if base is None or name is None:
            return set()
        if name in OWN_TABLE_ATTRIBUTES:
            return {OWN_NAMES}
        return self._members(self.paths(base, scope), name)

    def _members(self, modules: Iterable[str], name: str) -> set[str]:
        """What a name of these modules may stand for."""
        return {path for m in modules for path in self.package.expand(f"{m}.{name}")}

    def _imported(self, call: ast.Call, scope: Scope) -> set[str]:
        """What import_module("numpy") and __import__("numpy.linalg") may return."""
        named = [keyword.value for keyword in call.keywords if keyword.arg == "name"]
        first = next(iter([*call.args, *named]), None)
        text = self.text(first, scope) if first is not None else None
        if not text:
            return {"builtins.eval"}
        if text.startswith("."):  # import_module(".linalg", "numpy")
            others = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "package")]
            package = self.text(others[0], scope) if others else None
            return {package + text} if package else {"builtins.eval"}
        return {text, text.split(".")[0]}

    def _entry_paths(self, node: ast.AST, scope: Scope) -> set[str]:
        """sys.modules["numpy"], globals()["np"], np.__dict__["dot"], or one item of a literal."""
        holder, key = self.entry(node)
        if self._is_local_table(holder, scope):  # xp = np; locals()["xp"]
            text = self.text(key, scope)
            return {"builtins.eval"} if text is None else self._name_paths(text, scope)
        name = self.looked_up(node, scope)
        if name is not None:
            return self._name_paths(name, replace(scope, local={}))
        table = self.paths(holder, scope)
        if any(is_table(path) for path in table):
            text = self.text(key, scope)
            if text is None:  # sys.modules[__name__] is the notebook
                return {NOTEBOOK} if "sys.modules" in table else set()
            return self._entries(table, text)
        return table

    def _is_local_table(self, holder: ast.AST, scope: Scope) -> bool:
        asked = isinstance(holder, ast.Call) and not holder.args and bool(scope.local)
        return asked and bool(_LOCAL_TABLES & self.paths(holder.func, scope))

    def _entries(self, tables: Iterable[str], key: str) -> set[str]:
        """What stands under a key in sys.modules or in a module's dictionary."""
        modules = [path.removesuffix(".__dict__") for path in tables if path.endswith(".__dict__")]
        return self._members(modules, key) | ({key} if "sys.modules" in tables else set())

    def looked_up(self, node: ast.AST, scope: Scope) -> str | None:
        """The global name in globals()["name"] or globals().get("name")."""
        table, key = self.entry(node)
        if table is None:
            return None
        asked = isinstance(table, ast.Call) and not table.args
        own = asked and OWN_TABLES & self.paths(table.func, scope)
        return self.text(key, scope) if own or OWN_NAMES in self.paths(table, scope) else None

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
        if local:
            nodes = [(scope.cell, n) for n in scope.local[name]]
        else:
            nodes = self.alive(name, scope.at)
            if not nodes:
                return self._unbound_paths(name)
            if any(isinstance(node, Import) for _, node in nodes):
                # What is put into a library does not make its name another one's.
                nodes = self._definitions(name, scope.at)
        paths = set() if local else self._members(self._stars_after(nodes), name)
        if not local and not self._is_certain(name, scope.at):
            paths |= self._unbound_paths(name)  # if 0: map = None
        for cell, node in nodes:
            if isinstance(node, Import):
                paths |= self.package.expand(node.path)
            else:
                paths |= self.paths(node, scope if local else Scope(cell, cell, {}))
        return paths

    def _is_certain(self, name: str, at: int) -> bool:
        """Whether the notebook has a name of its own in any case, not a library's or built-in."""
        if name in self._deleted:
            return False
        if any(name in cell.certain for cell in self.cells[: at + 1]):
            return True
        # try: from elsewhere import sum ... except ImportError: def sum(x): ...
        return any(name in self._replaced_if_missing(i) for i in self._defining.get(name, ()))

    def _replaced_if_missing(self, cell: int) -> set[str]:
        """Names that a `try` of a cell imports, and that all of its handlers define."""
        found: set[str] = set()
        for node in self.cells[cell].body:
            if isinstance(node, ast.Try) and node.handlers:
                tried = certain(node.body)
                found |= tried.intersection(*(certain(h.body) for h in node.handlers))
        return found

    def _unbound_paths(self, name: str) -> set[str]:
        """What a name may be that the notebook itself does not bind."""
        if name == "get_ipython":
            return {"IPython.get_ipython"}
        if name == "__builtins__":  # a module here, a dictionary there
            return {"builtins", "builtins.__dict__"}
        found = self._members({star for _, _, star in self._stars}, name)
        return found | ({f"builtins.{name}"} if hasattr(builtins, name) else set())

    def _stars_after(self, nodes: Iterable[tuple[int, ast.AST | Import]]) -> set[str]:
        """Modules whose names, all imported by a star, may have replaced a definition."""
        if not self._stars:
            return set()
        first = min((cell, getattr(node, "lineno", 0)) for cell, node in nodes)
        return {star for cell, line, star in self._stars if (cell, line) > first}

    def global_paths(self, name: str) -> set[str]:
        """The library paths that a global name may stand for in the end."""
        last = len(self.cells) - 1
        if name in self._defining:
            return self._name_paths(name, Scope(last, last, {}))
        return self._members({star for _, _, star in self._stars}, name)

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

    def bound(self, name: str, scope: Scope) -> list[tuple[ast.AST | Import, Scope]]:
        """What a name is bound to, each with the scope that it stands in."""
        if name not in scope.local:
            return [(node, Scope(cell, cell, {})) for cell, node in self.alive(name, scope.at)]
        nodes = scope.local[name]
        return [(n.value, n.scope) if isinstance(n, Outer) else (n, scope) for n in nodes]

    def functions(self, name: str, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        """The notebook's functions, lambdas and classes that a name may stand for, with scopes.

        Of get, put = make() these are the functions inside `make`.
        """
        bound = self.bound(name, scope)
        found = [(n, s) for n, s in bound if isinstance(n, (*FUNCTIONS, ast.Lambda, ast.ClassDef))]
        for node, there in bound:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                makers = self.alive(node.func.id, there.at)
                for cell, maker in makers if node.func.id not in there.local else ():
                    found += self._made_by(maker, cell) if is_function(maker) else []
        return found

    def _made_by(self, maker: ast.AST, cell: int) -> list[tuple[ast.AST, Scope]]:
        """The functions inside a global function; many names may hold one of them."""
        if maker not in self._made:
            inside = Scope(cell, cell, {}).inside(maker)
            parts = [part for part in walk(maker) if is_function(part) and part is not maker]
            self._made[maker] = [(part, inside) for part in parts]
        return self._made[maker]

    def is_own_instance(self, base: ast.AST, name: str, scope: Scope) -> bool:
        """Whether `base` is an object of a class of the notebook that itself defines `name`."""
        if isinstance(base, ast.Call):
            return self._is_made_with(base, name, scope)
        if not isinstance(base, ast.Name):
            return False
        if base.id == scope.self_name and scope.owner is not None:
            return _defines(scope.owner, name)
        local = base.id in scope.local
        values = scope.local[base.id] if local else [n for _, n in self.alive(base.id, scope.at)]
        return bool(values) and all(self._is_made_with(value, name, scope) for value in values)

    def _is_made_with(self, value: ast.AST | Import, name: str, scope: Scope) -> bool:
        """Whether a value is an object that has `name` of its own: K(), SimpleNamespace(name=0)."""
        if not isinstance(value, ast.Call):
            return False
        named = any(keyword.arg == name for keyword in value.keywords)
        if named and "types.SimpleNamespace" in self.paths(value.func, scope):
            return True
        made = self._class_called(value, scope) or self._class_returned(value, scope)
        return made is not None and _defines(made, name)

    def _class_returned(self, call: ast.Call, scope: Scope) -> ast.ClassDef | None:
        """The class of the notebook of which a function or method of it returns an instance."""
        if isinstance(call.func, ast.Name):
            functions = self.functions(call.func.id, scope)
        elif isinstance(call.func, ast.Attribute) and not _may_be_an_arrays(call.func.attr):
            functions = self._methods.get(call.func.attr, [])
        else:
            functions = []
        if len(functions) != 1 or not is_function(functions[0][0]):
            return None
        function, there = functions[0]
        inner = there.inside(function)
        returns = [node.value for node in walk(function) if isinstance(node, ast.Return)]
        classes = {self._class_called(value, inner) for value in returns}
        return classes.pop() if len(classes) == 1 else None

    @cached_property
    def _methods(self) -> dict[str, list[tuple[ast.AST, Scope]]]:
        return methods(self, range(len(self.cells)))

    def _class_called(self, value: ast.AST | Import, scope: Scope) -> ast.ClassDef | None:
        """The class of the notebook or of the package that `value` makes an instance of."""
        if not isinstance(value, ast.Call):
            return None
        places = [self.package.definition(path) for path in self.paths(value.func, scope)]
        if places:
            made = [n for place in places if place for n in self.package.nodes(*place)]
            return made[0] if len(made) == 1 and isinstance(made[0], ast.ClassDef) else None
        if not isinstance(value.func, ast.Name):
            return None
        name = value.func.id
        nodes = scope.local.get(name) or [n for _, n in self.alive(name, scope.at)]
        classes = [n for n in nodes if isinstance(n, ast.ClassDef)]
        return classes[0] if len(classes) == len(nodes) == 1 else None


def methods(names: Names, cells: Iterable[int]) -> dict[str, list[tuple[ast.AST, Scope]]]:
    """The methods of the classes in some cells, by name, each with its scope."""
    found: dict[str, list[tuple[ast.AST, Scope]]] = {}
    for index in cells:
        for node in walk(ast.Module(names.cells[index].body, [])):
            for part in node.body if isinstance(node, ast.ClassDef) else ():
                if is_function(part):
                    found.setdefault(part.name, []).append((part, Scope(index, index, {})))
    return found


def is_function(node: ast.AST | Import) -> bool:
    return isinstance(node, FUNCTIONS)


def _sees_globals(called: set[str], scope: Scope) -> bool:
    """Whether globals() or, outside of all functions, locals() or vars() is called."""
    return "builtins.globals" in called or not scope.local


def _called_method(node: ast.AST) -> str | None:
    """The name of the method that a node calls."""
    method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return node.func.attr if method else None


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


def _may_be_an_arrays(method: str) -> bool:
    """Whether arrays have a method of this name, so that a call of it may be a call of theirs."""
    return method in ARRAY_NAMES or method.startswith("__")


def _defines(owner: ast.ClassDef, name: str) -> bool:
    """Whether a class without bases defines a method or sets an attribute of this name."""
    if any(getattr(base, "id", "") != "NamedTuple" for base in owner.bases) or owner.keywords:
        return False
    for node in owner.body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == name:
            return True  # a field of a dataclass or a named tuple
    for node in ast.walk(owner):
        if isinstance(node, FUNCTIONS) and node.name == name:
            return True
        stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if stored and node.attr == name:
            return True
    return False

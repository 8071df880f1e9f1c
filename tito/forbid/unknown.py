"""Calls whose text does not show what is called: ops[0](a, b), next(it)(a, b), helper.fn(a, b).

Whatever was put somewhere in the notebook may then be called (`kept`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from .bindings import COMPREHENSIONS, FUNCTIONS, PARAMETER, FromInside, Import, bindings
from .names import Names, Outer, Scope
from .texts import called, constant_text
from .trees import walk

# Calls that return what they are given, or something that calls it: the given value is looked at.
TRANSPARENT = (
    *("numba.", "functools.", "contextlib.", "dataclasses.", "numpy.vectorize"),
    *("numpy.frompyfunc", "builtins.staticmethod", "builtins.classmethod", "builtins.property"),
)
# Calls that call what they are given.
_CALLING = {
    *("builtins.map", "builtins.filter", "operator.call", "numpy.vectorize", "numpy.frompyfunc"),
    *("numpy.fromfunction", "numpy.apply_along_axis", "itertools.starmap", "itertools.accumulate"),
}
_CALLING_METHODS = ("submit", "map", "starmap")
_CALLED_KEYWORDS = ("target", "key", "func", "function", "default_factory")
MOST_SEEN = 100  # expressions behind one; behind more anything may be
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, *COMPREHENSIONS)
_TABLES = ("__dict__", "__setattr__", "__setstate__", "__set__")


class Unknown:
    """What a walk through reached code calls without naming it.

    found : the first thing that is called so, None if nothing is
    via   : the functions through which it is reached
    module, module_via : the same for what a forbidden function's name is taken of
    """

    def __init__(self, names: Names, theirs: Iterable[int]) -> None:
        self._names = names
        self._theirs = list(theirs)
        self._stored: frozenset[str] | None = None
        self._any_stored = False
        self._calls_parameter = False
        self._handed_on: ast.AST | None = None
        self._here: tuple[str, ...] = ()
        self.found: ast.AST | None = None
        self.via: tuple[str, ...] = ()
        self.module: ast.AST | None = None
        self.module_via: tuple[str, ...] = ()

    def look_at_root(self, name: str, at: int) -> None:
        """dot = ops[0]: the exercise's own function."""
        self._here = (name,)
        for cell, node in self._names.alive(name, at):
            if isinstance(node, ast.expr) and self._is_any(node, Scope(cell, cell, {})):
                self._note(node)

    def look_at(self, node: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        """A node of reached code."""
        self._here = via
        for decorator in getattr(node, "decorator_list", ()):
            if not isinstance(decorator, ast.Call):
                self._look_at_callee(decorator, scope)
        if isinstance(node, ast.Call):
            self._look_at_callee(node.func, scope)
            self._look_at_arguments(node, scope)

    def _look_at_callee(self, callee: ast.expr, scope: Scope) -> None:
        if isinstance(callee, ast.Name) and PARAMETER in scope.local.get(callee.id, ()):
            self._calls_parameter = True
            self._settle()
            if self._is_stored("__defaults__") or self._is_stored("__kwdefaults__"):
                self._note(callee)
        elif self._is_any(callee, scope):
            self._note(callee)

    def _look_at_arguments(self, call: ast.Call, scope: Scope) -> None:
        """apply(ops[0], a, b), where something that is reached calls its parameter."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        first = next((part for part in given if self._is_any(part, scope, as_value=True)), None)
        if first is None:
            return
        handed = [k.value for k in call.keywords if k.arg in _CALLED_KEYWORDS]
        paths = self._names.paths(call.func, scope)
        if called(call) in _CALLING_METHODS or any(_calls_first(path) for path in paths):
            handed += call.args
        if any(self._is_any(part, scope, as_value=True) for part in handed):
            self._note(call)
        elif not paths and isinstance(call.func, ast.Name):
            self._handed_on = self._handed_on or first
            self._settle()

    def look_at_module(self, node: ast.Attribute, scope: Scope, via: tuple[str, ...]) -> None:
        """K.m.inner: the name of a forbidden function, of something that may be a module."""
        if self.module is None and self._is_any(node.value, scope):
            self.module, self.module_via = node.value, via

    def _settle(self) -> None:
        if self._calls_parameter and self._handed_on is not None:
            self._note(self._handed_on)

    def _note(self, node: ast.AST) -> None:
        if self.found is None:
            self.found, self.via = node, self._here

    def _is_any(
        self, node: ast.AST, scope: Scope, as_value: bool = False, seen: set | None = None
    ) -> bool:
        """Whether an expression may be any function that was kept somewhere.

        as_value : handed on, a literal list is its parts, which are looked at; called, it is what
                   was taken out of it
        """
        seen = set() if seen is None else seen
        if id(node) in seen:
            return False
        seen.add(id(node))
        if len(seen) > MOST_SEEN:
            return True

        def ask(part: ast.AST) -> bool:
            return self._is_any(part, scope, as_value, seen)

        if isinstance(node, ast.Name):
            return any(
                self._is_any(bound, inner, as_value, seen)
                for bound, inner in self._bound(node.id, scope)
            )
        if isinstance(node, ast.Attribute):
            if self._names.paths(node, scope):
                return False
            return self._is_stored(node.attr) or self._is_method_of_any(node, scope, seen)
        if isinstance(node, ast.Call):
            return self._returns_any(node, scope, seen)
        if isinstance(node, ast.IfExp):
            return ask(node.body) or ask(node.orelse)
        if isinstance(node, ast.BoolOp):
            return any(map(ask, node.values))
        if isinstance(node, (ast.NamedExpr, ast.Starred)):
            return ask(node.value)
        if isinstance(node, _CONTAINERS):
            return not as_value
        return isinstance(node, (ast.Subscript, ast.Await, ast.Yield, ast.YieldFrom, FromInside))

    def _is_method_of_any(self, node: ast.Attribute, scope: Scope, seen: set) -> bool:
        """kernels[0].go, where a student's class has a method go: of which class is not known."""
        return node.attr in self._methods and self._is_any(node.value, scope, False, seen)

    @cached_property
    def _methods(self) -> set[str]:
        return {
            part.name
            for node in self._walk_theirs()
            if isinstance(node, ast.ClassDef)
            for part in node.body
            if isinstance(part, FUNCTIONS)
        }

    def _walk_theirs(self) -> Iterator[ast.AST]:
        for index in self._theirs:
            yield from walk(ast.Module(self._names.cells[index].body, []))

    def _bound(self, name: str, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        """What a name is bound to, each with the scope that it stands in."""
        if name in scope.local:
            for node in scope.local[name]:
                if isinstance(node, Outer):
                    yield node.value, node.scope
                elif not isinstance(node, Import):
                    yield node, scope
            return
        for cell, node in self._names.alive(name, scope.at):
            if not isinstance(node, Import):
                yield node, Scope(cell, cell, {})

    def _returns_any(self, call: ast.Call, scope: Scope, seen: set) -> bool:
        paths = self._names.paths(call.func, scope)
        if paths:
            return not all(path.startswith((*TRANSPARENT, "tinykernels.")) for path in paths)
        if not isinstance(call.func, ast.Name):
            return True
        functions = list(self._bound(call.func.id, scope))
        return any(self._function_returns_any(f, inner, seen) for f, inner in functions)

    def _function_returns_any(self, node: ast.AST, scope: Scope, seen: set) -> bool:
        if scope.cell not in self._theirs or isinstance(node, ast.ClassDef):
            return False
        if isinstance(node, ast.Lambda):
            return self._is_any(node.body, scope.inside(node), False, seen)
        if not isinstance(node, FUNCTIONS):
            return self._is_any(node, scope, False, seen)
        inner = scope.inside(node)
        parts = list(_own_nodes(node))
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts):
            return True
        returned = [p.value for p in parts if isinstance(p, ast.Return) and p.value is not None]
        return any(self._is_any(value, inner, False, seen) for value in returned)

    def _is_stored(self, attribute: str) -> bool:
        """Whether a student's cell sets an attribute of this name, of whatever object."""
        if self._stored is None:
            self._stored = frozenset(self._find_stored())
        return self._any_stored or attribute in self._stored

    def _find_stored(self) -> Iterator[str]:
        for node in self._walk_theirs():
            if isinstance(node, ast.Attribute):
                if isinstance(node.ctx, ast.Store):
                    yield node.attr
                self._any_stored |= node.attr in _TABLES
            elif isinstance(node, ast.ClassDef):
                own = bindings(node.body)
                yield from (name for name, bound in own if not isinstance(bound, FUNCTIONS))
            elif called(node) == "setattr" and len(node.args) == 3:
                text = constant_text(node.args[1])
                self._any_stored |= text is None
                yield text or ""
            elif called(node) == "vars" and node.args:
                self._any_stored = True


def _calls_first(path: str) -> bool:
    return path in _CALLING or path.startswith("functools.")


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            stack += ast.iter_child_nodes(node)

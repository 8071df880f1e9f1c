"""Calls whose text does not show what is called: ops[0](a, b), next(it)(a, b), helper.fn(a, b).

Whatever a cell stores may then be called (`stored`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from .bindings import (
    COMPREHENSIONS,
    FUNCTIONS,
    PARAMETER,
    FromInside,
    argument_names,
    bindings,
    given_to,
    parameter_of,
)
from .names import Names, Scope, methods
from .texts import called, constant_text
from .trees import walk

# Calls that return what they are given, or something that calls it.
TRANSPARENT = (
    *("numba.", "functools.", "contextlib.", "dataclasses.", "numpy.vectorize"),
    *("numpy.frompyfunc", "builtins.staticmethod", "builtins.classmethod", "builtins.property"),
)
# Calls that return something out of what they are given.
_TAKING = {"builtins.next", "builtins.max", "builtins.min", "operator.call"}
_TAKING_METHODS = {
    *("get", "get_nowait", "pop", "popleft", "popitem", "send", "result", "take", "item"),
    *("__next__", "__getitem__", "setdefault", "values", "items"),
}
# Calls that call the first thing they are given.
_CALLING = {
    *("builtins.map", "builtins.filter", "operator.call", "numpy.vectorize", "numpy.frompyfunc"),
    *("numpy.fromfunction", "numpy.apply_along_axis", "itertools.starmap", "functools.reduce"),
    *("functools.partial", "numba.njit", "numba.jit", "numba.vectorize"),
}
_CALLING_METHODS = ("submit", "map", "starmap")
_CALLED_KEYWORDS = ("target", "key", "func", "function", "default_factory")
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, *COMPREHENSIONS)
MOST_SEEN = 100  # expressions behind one; behind more anything may be


class Unknown:
    """What a walk through reached code calls without naming it.

    found : the first thing that is called so, None if nothing is
    via   : the functions through which it is reached
    module, module_via : the same for what a forbidden function's name is taken of
    """

    def __init__(self, names: Names, theirs: Iterable[int]) -> None:
        self._names = names
        self._theirs = list(theirs)
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
        parameter = isinstance(callee, ast.Name) and PARAMETER in scope.local.get(callee.id, ())
        defaults = {"__defaults__", "__kwdefaults__"} & self._stored
        if (parameter and defaults) or self._is_any(callee, scope):
            self._note(callee)

    def _look_at_arguments(self, call: ast.Call, scope: Scope) -> None:
        """apply(ops[0], a, b) and map(ops[0], a): where the callee calls what it is given."""
        called_parts = [k.value for k in call.keywords if k.arg in _CALLED_KEYWORDS]
        paths = self._names.paths(call.func, scope)
        if called(call) in _CALLING_METHODS or not _CALLING.isdisjoint(paths):
            called_parts += call.args[:1]
        elif isinstance(call.func, ast.Name) and not paths:
            for function, _ in self._names.bound(call.func.id, scope):
                called_parts += _called_by(function, call)
        if any(self._is_any(part, scope) for part in called_parts):
            self._note(call)

    def look_at_module(self, node: ast.Attribute, scope: Scope, via: tuple[str, ...]) -> None:
        """K.m.inner: the name of a forbidden function, of something that may be a module."""
        if self.module is None and self._is_any(node.value, scope):
            self.module, self.module_via = node.value, via

    def _note(self, node: ast.AST) -> None:
        if self.found is None:
            self.found, self.via = node, self._here

    def _is_any(self, node: ast.AST, scope: Scope, seen: set | None = None) -> bool:
        """Whether an expression that is called may be any function that was stored somewhere."""
        seen = set() if seen is None else seen
        if id(node) in seen:
            return False
        seen.add(id(node))
        if len(seen) > MOST_SEEN:
            return True

        def ask(part: ast.AST) -> bool:
            return self._is_any(part, scope, seen)

        if isinstance(node, ast.Name):
            bound = self._names.bound(node.id, scope)
            return any(self._is_any(value, inner, seen) for value, inner in bound)
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
        if isinstance(node, FromInside):
            own = argument_names(node.args)
            return isinstance(node.body, ast.Name) and node.body.id in own
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and node.elts:
            return any(map(ask, node.elts))  # gone through or unpacked: one of these
        return isinstance(node, (ast.Subscript, ast.Await, ast.Yield, ast.YieldFrom, *_CONTAINERS))

    def _is_method_of_any(self, node: ast.Attribute, scope: Scope, seen: set) -> bool:
        """kernels[0].go, where a student's class has a method go: of which class is not known."""
        known = node.attr in self._methods and node.attr != "__init__"  # super().__init__
        return known and self._is_any(node.value, scope, seen)

    @cached_property
    def _methods(self) -> dict[str, list[tuple[ast.AST, Scope]]]:
        return methods(self._names, self._theirs)

    def _walk_theirs(self) -> Iterator[ast.AST]:
        for index in self._theirs:
            yield from walk(ast.Module(self._names.cells[index].body, []))

    def _returns_any(self, call: ast.Call, scope: Scope, seen: set) -> bool:
        paths = self._names.paths(call.func, scope)
        if paths:
            return not _TAKING.isdisjoint(paths)
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in _TAKING_METHODS or self._method_returns_any(call, scope, seen)
        if not isinstance(call.func, ast.Name):
            return self._is_any(call.func, scope, seen)
        name = call.func.id
        functions = [*self._names.bound(name, scope), *self._names.functions(name, scope)]
        return any(self._function_returns_any(f, inner, seen) for f, inner in functions)

    def _method_returns_any(self, call: ast.Call, scope: Scope, seen: set) -> bool:
        known = self._methods.get(call.func.attr, ())
        return any(self._function_returns_any(method, there, seen) for method, there in known)

    def _function_returns_any(self, node: ast.AST, scope: Scope, seen: set) -> bool:
        if scope.cell not in self._theirs or isinstance(node, ast.ClassDef):
            return False
        if isinstance(node, ast.Lambda):
            return self._is_any(node.body, scope.inside(node), seen)
        if not isinstance(node, FUNCTIONS):
            return self._is_any(node, scope, seen)
        if ("of", id(node)) in seen:
            return False
        seen.add(("of", id(node)))
        inner = scope.inside(node)
        parts = list(_own_nodes(node))
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts):
            return True
        returned = [p.value for p in parts if isinstance(p, ast.Return) and p.value is not None]
        return any(self._is_any(value, inner, seen) for value in returned)

    def _is_stored(self, attribute: str) -> bool:
        """Whether a student's cell sets an attribute of this name, of whatever object."""
        return None in self._stored or attribute in self._stored

    @cached_property
    def _stored(self) -> set[str | None]:
        """Names of all attributes that students' cells set; None where one cannot be read."""
        found: set[str | None] = set()
        for node in self._walk_theirs():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.ClassDef):
                own = bindings(node.body)
                found |= {name for name, bound in own if not isinstance(bound, FUNCTIONS)}
            elif called(node) in ("setattr", "__setattr__") and len(node.args) > 1:
                found.add(constant_text(node.args[-2]))
            elif _is_written_table(node):
                found.add(None)
        return found


def _is_written_table(node: ast.AST) -> bool:
    """vars(x)["f"] = g, x.__dict__.update(f=g), d = x.__dict__: what attributes may come of."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and _is_attributes(node.value)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and _is_attributes(node.func.value)
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.NamedExpr)):
        return _is_attributes(node.value) or _is_attributes(getattr(node, "target", None))
    return False


def _is_attributes(node: ast.AST | None) -> bool:
    """x.__dict__ and vars(x)."""
    if isinstance(node, ast.Call):
        return called(node) == "vars" and bool(node.args)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _called_by(function: ast.AST, call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that the function of the student's calls in its turn."""
    if not isinstance(function, (*FUNCTIONS, ast.Lambda)):
        return []
    calls = [n.func for n in walk(function) if isinstance(n, ast.Call)]
    names = {func.id for func in calls if isinstance(func, ast.Name)}
    return [value for value in given_to(call) if parameter_of(value, call, function) in names]


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            stack += ast.iter_child_nodes(node)

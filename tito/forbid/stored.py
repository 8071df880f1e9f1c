"""Functions that a cell stores: puts into a container or an attribute, or hands to who does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .bindings import COMPREHENSIONS, FUNCTIONS, argument_names, given_to, parameter_of
from .names import Names, Scope, methods
from .trees import children, walk
from .unknown import TRANSPARENT

# Methods that put what they are given somewhere, and functions that do.
_PUTTING = {
    *("append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault"),
    *("put", "put_nowait", "set", "send", "throw", "push", "register", "fill", "itemset"),
    *("__setitem__", "__setattr__", "__iadd__", "__ior__"),
}
_PUTTING_PATHS = ("builtins.setattr", "operator.setitem", "operator.iadd", "heapq.", "bisect.")
_PUTTING_PATHS += ("numpy.put", "numpy.copyto", "numpy.place")
_DEEPEST = 4  # names behind names


class Stored:
    """What the students' cells store."""

    def __init__(self, names: Names, theirs: list[int]) -> None:
        self._names = names
        self._theirs = theirs
        self._storing: dict[tuple[int, str], bool] = {}
        self._methods = methods(names, theirs)

    def functions(self) -> Iterator[tuple[ast.AST, Scope]]:
        """(a function, or an expression for a function or module, and its scope) for each."""
        for index in self._theirs:
            body = self._names.cells[index].body
            every = _mentions_putting(ast.Module(body, []))
            stack = [(node, Scope(index, index, {})) for node in body]
            while stack:
                node, scope = stack.pop()
                for value in self._stored_by(node, scope, every):
                    yield from self._meant(value, scope, _DEEPEST)
                own = isinstance(node, (*FUNCTIONS, ast.Lambda, *COMPREHENSIONS))
                inner = scope.inside(node) if own else scope
                stack += [(child, inner) for child in children(node)]

    def _stored_by(self, node: ast.AST, scope: Scope, every: bool) -> Iterator[ast.AST]:
        """The parts of a node that it stores.

        every : a method that puts something somewhere goes by another name: any call may be its
        """
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if self._announces_itself(node, scope):
                yield node
        elif isinstance(node, ast.Call):
            if every or self._puts(node, scope):
                yield from given_to(node)
            else:
                yield from self._handed_to_storing(node, scope)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from given_to(node.exc)
        else:
            yield from _assigned_into(node)

    def _puts(self, call: ast.Call, scope: Scope) -> bool:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PUTTING:
            return True
        return any(path.startswith(_PUTTING_PATHS) for path in self._names.paths(call.func, scope))

    def _handed_to_storing(self, call: ast.Call, scope: Scope) -> Iterator[ast.AST]:
        """Arguments of a student's function or method that stores the parameter they become."""
        skip, functions = 0, []
        if isinstance(call.func, ast.Name):
            functions = self._names.functions(call.func.id, scope)
            if any(isinstance(made, ast.ClassDef) for made, _ in functions):
                skip, functions = 1, self._methods.get("__init__", [])
        elif isinstance(call.func, ast.Attribute):
            skip, functions = 1, self._methods.get(call.func.attr, [])
        for function, there in functions:
            for value in given_to(call) if isinstance(function, FUNCTIONS) else ():
                name = parameter_of(value, call, function, skip)
                if name and self._stores(function, name, there):
                    yield value

    def _stores(self, function: ast.AST, name: str, scope: Scope) -> bool:
        """Whether a function stores what a parameter of it is."""
        key = id(function), name
        if key not in self._storing:
            self._storing[key] = False  # who comes back here on the way knows nothing new
            self._storing[key] = self._finds_stored(function, name, scope)
        return self._storing[key]

    def _finds_stored(self, function: ast.AST, name: str, scope: Scope) -> bool:
        outside = {
            n
            for node in walk(function)
            if isinstance(node, (ast.Global, ast.Nonlocal))
            for n in node.names
        }
        inner = scope.inside(function)
        for node in walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                targets = [t.id for t in node.targets if isinstance(t, ast.Name)]
                if node.value.id == name and not outside.isdisjoint(targets):
                    return True
            if node is not function and any(
                isinstance(part, ast.Name) and part.id == name
                for value in self._stored_by(node, inner, False)
                for part in self._values(value, inner)
            ):
                return True
        return False

    def _announces_itself(self, node: ast.AST, scope: Scope) -> bool:
        """@ops.append def f, @own def f where `own` stores it, class F(K) where K does."""
        for decorator in node.decorator_list:
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(made, ast.Attribute) and made.attr in _PUTTING:
                return True
            named = isinstance(made, ast.Name) and made.id not in scope.local
            for cell, function in self._names.alive(made.id, scope.at) if named else ():
                if isinstance(function, FUNCTIONS) and self._stores_any(function, cell):
                    return True
        bases = getattr(node, "bases", ())
        special = "__init_subclass__" in self._methods or "__new__" in self._methods
        return bool(special and (bases or getattr(node, "keywords", ())))

    def _stores_any(self, function: ast.AST, cell: int) -> bool:
        """Whether a decorator stores a parameter of its own, or of a function inside it."""
        return any(
            self._stores(part, argument.arg, Scope(cell, cell, {}))
            for part in walk(function)
            if isinstance(part, FUNCTIONS)
            for argument in part.args.args
        )

    def _meant(self, value: ast.AST, scope: Scope, depth: int) -> Iterator[tuple[ast.AST, Scope]]:
        """The functions and modules among the parts of a stored value, not results of calls."""
        if isinstance(value, (*FUNCTIONS, ast.ClassDef)):
            yield value, scope
            return
        for part in self._values(value, scope):
            if isinstance(part, ast.Lambda) or self._names.paths(part, scope):
                yield part, scope
            elif isinstance(part, ast.Name) and self._names.functions(part.id, scope):
                yield part, scope  # a specification is known by its name
                yield from self._behind(part.id, scope, 0)
            elif isinstance(part, ast.Name) and depth:
                yield from self._behind(part.id, scope, depth - 1)

    def _values(self, value: ast.AST, scope: Scope) -> Iterator[ast.AST]:
        """The names, attributes and lambdas in an expression that it may be, or may hold."""
        stack = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.Name, ast.Attribute, ast.Lambda)):
                yield node
            elif isinstance(node, ast.Call) and self._names.paths(node, scope):
                yield node  # globals()
            elif isinstance(node, ast.Call):
                stack += given_to(node) if self._gives_back(node, scope) else []
            elif not isinstance(node, ast.Compare):
                stack += children(node)

    def _gives_back(self, call: ast.Call, scope: Scope) -> bool:
        """Whether a call returns what it is given, or something that calls it."""
        if isinstance(call.func, ast.Lambda):
            return True
        if any(path.startswith(TRANSPARENT) for path in self._names.paths(call.func, scope)):
            return True
        name = call.func.id if isinstance(call.func, ast.Name) else None
        functions = self._names.alive(name, scope.at) if name and name not in scope.local else []
        return any(isinstance(f, FUNCTIONS) and _returns_a_parameter(f) for _, f in functions)

    def _behind(self, name: str, scope: Scope, depth: int) -> Iterator[tuple[ast.AST, Scope]]:
        for node, there in self._names.bound(name, scope):
            if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
                yield node, there
            elif isinstance(node, ast.Call):  # partial(np.dot), njit(f): no result
                paths = self._names.paths(node.func, there)
                if any(path.startswith(TRANSPARENT) for path in paths):
                    yield node, there
            elif isinstance(node, (ast.Name, ast.List, ast.Tuple, ast.Dict, ast.IfExp)):
                yield from self._meant(node, there, depth)


def _assigned_into(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement assigns to an attribute or an item."""
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets, value = [node.target], node.value
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        targets, value = [node.target], node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets, value = [node.optional_vars], node.context_expr
    else:
        return
    parts = [part for target in targets for part in walk(target)]
    into = any(isinstance(part, (ast.Attribute, ast.Subscript)) for part in parts)
    if value is not None and (into or isinstance(node, ast.AugAssign)):
        yield value


def _mentions_putting(tree: ast.AST) -> bool:
    """add = ops.append, map(ops.append, ...): a method that stores, under another name."""
    methods = [n for n in walk(tree) if isinstance(n, ast.Attribute) and n.attr in _PUTTING]
    calls = {id(n.func) for n in walk(tree) if isinstance(n, ast.Call)}
    decorators = {id(d) for n in walk(tree) for d in getattr(n, "decorator_list", ())}
    loaded = [n for n in methods if isinstance(n.ctx, ast.Load)]
    return any(id(n) not in calls | decorators for n in loaded)


def _returns_a_parameter(function: ast.AST) -> bool:
    """return f, not return f(1): the parameter itself."""
    own = argument_names(function.args)
    stack = [n.value for n in walk(function) if isinstance(n, ast.Return) and n.value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and node.id in own:
            return True
        stack += [] if isinstance(node, ast.Call) else children(node)
    return False

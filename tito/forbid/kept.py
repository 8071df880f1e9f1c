"""Functions that a cell keeps: puts somewhere, or hands to somebody who may."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .bindings import COMPREHENSIONS, FUNCTIONS
from .names import Names, Scope
from .texts import called
from .trees import children, walk
from .unknown import TRANSPARENT

_VALUES = (ast.Name, ast.Attribute, ast.Lambda)
_LITERALS = (ast.Tuple, ast.List, ast.Set, ast.Dict)
# Nodes whose parts are looked at, called or bound to a name, which is followed: not kept.
_NOT_KEEPING = (
    *(ast.Attribute, ast.Subscript, ast.Compare, ast.Expr, ast.FormattedValue, ast.BinOp),
    *(ast.UnaryOp, ast.For, ast.AsyncFor, ast.comprehension, ast.If, ast.While, ast.Assert),
    *(*FUNCTIONS, ast.ClassDef, ast.Delete, ast.keyword),
)
# What a function's attributes of these names are says something about it.
_FACTS = ("__name__", "__qualname__", "__doc__", "__module__")
# Calls that look at what they are given, and keep nothing.
_LOOKING = ("print", "len", "str", "repr", "format", "id", "type", "callable", "isinstance")
_PASSING = ("items", "values", "keys", "enumerate", "zip", "reversed")
_DEEPEST = 4  # functions that hand it on to each other


def kept(index: int, names: Names) -> Iterator[tuple[ast.AST, Scope]]:
    """(a function, or an expression for one, and its scope) for each that a cell may keep.

    `print(time_of(np.dot))` keeps nothing where `time_of` merely calls it, nor does
    `for f in (np.dot, dot): f(a, b)`.
    """
    passing: set[int] = set()  # literals that are only gone through
    stack = [(node, Scope(index, index, {})) for node in names.cells[index].body]
    while stack:
        node, scope = stack.pop()
        inner = scope.inside(node) if isinstance(node, (*FUNCTIONS, ast.Lambda)) else scope
        passing |= _gone_through(node, names, inner)
        for value in [] if id(node) in passing else _kept_by(node, names, scope):
            yield value, inner if isinstance(node, ast.Lambda) else scope
            yield from _meant(value, scope)
        stack += [(child, inner) for child in children(node)]


def _meant(value: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    """The functions that a name means inside of another one."""
    if isinstance(value, ast.Name):
        bound = scope.local.get(value.id, ())
        yield from (
            (n, scope) for n in bound if isinstance(n, (*FUNCTIONS, ast.ClassDef, ast.Lambda))
        )


def _kept_by(node: ast.AST, names: Names, scope: Scope) -> Iterator[ast.AST]:
    """The parts of a node that it may keep."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        makes = isinstance(node, ast.ClassDef) and (node.bases or node.keywords)
        if makes or any(_may_keep(part, names, scope) for part in node.decorator_list):
            yield node
        parts = [k.value for k in getattr(node, "keywords", ())]
    elif isinstance(node, ast.Call):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        parts = [part for part in given if not _is_looked_at(part, node, names, scope, 0)]
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        followed = all(isinstance(target, ast.Name) for target in targets)
        parts = [] if followed or node.value is None else [node.value]
    elif isinstance(node, _NOT_KEEPING):
        parts = []
    else:
        parts = children(node)
    yield from (part for part in parts if isinstance(part, _VALUES) and _is_read(part))


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _may_keep(decorator: ast.expr, names: Names, scope: Scope) -> bool:
    """Whether a decorator may be one that puts the function somewhere."""
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    paths = names.paths(made, scope)
    return not paths or not all(path.startswith(TRANSPARENT) for path in paths)


def _gone_through(node: ast.AST, names: Names, scope: Scope) -> set[int]:
    """The literals that a loop goes through, if its own names are merely looked at or called."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        loops, body = [(node.target, node.iter)], node.body
    elif isinstance(node, COMPREHENSIONS):
        loops = [(generator.target, generator.iter) for generator in node.generators]
        value = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        body = [ast.Expr(part) if isinstance(part, ast.Call) else part for part in value]
    else:
        return set()
    found: set[int] = set()
    for target, source in loops:
        parts = [part for t in _targets(target, source) for part in walk(t)]
        own = [part for part in parts if not isinstance(part, (ast.Tuple, ast.List))]
        named = all(isinstance(part, ast.Name) for part in own)
        if named and all(_is_harmless(part.id, body, names, scope, 0) for part in own):
            found |= set(_literals(source))
    return found


def _targets(target: ast.expr, source: ast.expr) -> list[ast.expr]:
    """The parts of a loop's target that may be functions: not name in ("numpy", np.dot), ...."""
    if not isinstance(target, ast.Tuple):
        return [target]
    if called(source) == "enumerate":
        return target.elts[1:]
    if called(source) == "items" and isinstance(source.func.value, ast.Dict):
        columns: list[list] = [source.func.value.keys, source.func.value.values]
    elif called(source) == "zip":
        columns = [getattr(part, "elts", [part]) for part in source.args]
    else:
        rows = [getattr(row, "elts", [row]) for row in getattr(source, "elts", ())]
        columns = list(zip(*rows)) if len({len(row) for row in rows}) == 1 else []
    if len(columns) != len(target.elts):
        return [target]
    pairs = zip(target.elts, columns)
    return [t for t, column in pairs if not all(isinstance(x, ast.Constant) for x in column)]


def _literals(node: ast.AST) -> Iterator[int]:
    if isinstance(node, _LITERALS):
        yield id(node)
        parts: Iterable[ast.AST] = children(node)
    elif called(node) in _PASSING:
        parts = [*node.args, *children(node.func)]
    else:
        parts = ()
    for part in parts:
        yield from _literals(part)


def _is_looked_at(value: ast.AST, call: ast.Call, names: Names, scope: Scope, depth: int) -> bool:
    """Whether a call merely looks at this argument, or calls it."""
    paths = names.paths(call.func, scope)
    if paths:
        return all(path.removeprefix("builtins.") in _LOOKING for path in paths)
    if not isinstance(call.func, ast.Name) or call.func.id in scope.local or depth > _DEEPEST:
        return False
    functions = names.alive(call.func.id, scope.at)
    return bool(functions) and all(
        isinstance(function, FUNCTIONS)
        and not function.decorator_list
        and (name := _parameter(value, call, function)) is not None
        and _is_harmless(
            name, function.body, names, Scope(cell, cell, {}).inside(function), depth + 1
        )
        for cell, function in functions
    )


def _parameter(value: ast.AST, call: ast.Call, function: ast.AST) -> str | None:
    """The parameter that an argument becomes; None if that is not plain."""
    keywords = [keyword.arg for keyword in call.keywords if keyword.value is value]
    if keywords:
        return keywords[0]
    parameters = [*function.args.posonlyargs, *function.args.args]
    place = next(i for i, part in enumerate(call.args) if part is value)
    starred = any(isinstance(part, ast.Starred) for part in call.args[: place + 1])
    return parameters[place].arg if place < len(parameters) and not starred else None


def _is_harmless(
    name: str, body: Iterable[ast.AST], names: Names, scope: Scope, depth: int
) -> bool:
    """Whether code merely calls what a name stands for, or says how it is called."""
    stack = [(node, None) for node in body]
    while stack:
        node, parent = stack.pop()
        meant = isinstance(node, ast.Name) and node.id == name
        if meant and not _is_harmless_part(node, parent, names, scope, depth):
            return False
        around = parent if isinstance(node, ast.keyword) else node
        stack += [(child, around) for child in children(node)]
    return True


def _is_harmless_part(
    node: ast.Name, parent: ast.AST | None, names: Names, scope: Scope, depth: int
) -> bool:
    if isinstance(parent, ast.Call):
        return node is parent.func or _is_looked_at(node, parent, names, scope, depth)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _FACTS
    if isinstance(parent, ast.Subscript):
        return node is parent.slice
    return isinstance(parent, (ast.FormattedValue, ast.Compare, ast.For, ast.comprehension))

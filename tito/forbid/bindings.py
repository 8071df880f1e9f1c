"""What a piece of code binds, and to what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from .texts import called, constant_text, run_texts
from .trees import children, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OWN_NAMES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)

PARAMETER = ast.Constant(None)

# What is put into these is found under its name alone.
_EVERYWHERE = (["builtins"], ["__builtins__"], ["__main__"])


@dataclass(frozen=True)
class Import:
    """A name that stands for a library's module or function; where it is imported."""

    path: str
    line: int = 1


def bindings(body: Iterable[ast.AST]) -> Iterator[tuple[str, ast.AST | Import]]:
    """Every (name, what it is bound to) of a scope; nested functions keep theirs to themselves.

    Walks with a stack of its own, like all of this package: an expression may be nested deeper than
    Python's recursion goes, and must not escape by that.
    """
    stack = list(body)[::-1]
    while stack:
        node = stack.pop()
        yield from _bound_by(node)
        if not isinstance(node, _OWN_NAMES):
            stack += children(node)[::-1]


def certain(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Names that a cell binds whenever it runs to its end, and does not look at before.

    What they were is dead then. `if 0: def f...`, `f: int` and `f = faster(f)` leave it alive.
    """
    found: set[str] = set()
    body = list(body)
    seen = deleted(body)
    for statement in body:
        seen |= {name for name in _looked_at(statement) if name not in found}
        found |= _surely_bound_by(statement) - seen
    return frozenset(found)


def deleted(body: Iterable[ast.AST]) -> set[str]:
    """Global names that are deleted somewhere, also in functions that declare them global."""
    found: set[str] = set()
    stack: list[tuple[ast.AST, set[str] | None]] = [(node, None) for node in body]
    while stack:
        node, ours = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            found |= {node.id} if ours is None or node.id in ours else set()
        inner = _declared(node, ast.Global) if isinstance(node, FUNCTIONS) else ours
        stack += [(child, inner) for child in children(node)]
    return found


def _surely_bound_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {name for name, _ in _bound_by(statement)} - {"*"}
    if isinstance(statement, ast.Assign):
        return {name for target in statement.targets for name in _target_names(target)}
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return set(_target_names(statement.target))
    if isinstance(statement, ast.If) and statement.orelse:
        return set(certain(statement.body) & certain(statement.orelse))
    return set()


def _looked_at(statement: ast.stmt) -> Iterator[str]:
    """Names whose values a statement takes; what a function takes it takes when it is called."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        if isinstance(node, FUNCTIONS):
            stack += [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
        elif isinstance(node, ast.Lambda):
            stack.append(node.args)
        else:
            stack += children(node)


def _bound_by(node: ast.AST) -> Iterator[tuple[str, ast.AST | Import]]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name, node
    elif isinstance(node, ast.Import):
        yield from _import_bindings(node)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            path = f"{node.module or ''}.{alias.name}"
            yield alias.asname or alias.name, Import(path, node.lineno)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        yield from _assigned(node)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from ((name, node.iter) for name in _target_names(node.target))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from ((n, node.context_expr) for n in _target_names(node.optional_vars))
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, node.type or ast.Constant(None)
    elif isinstance(node, ast.Match):
        names = {name for case in node.cases for name in _captured(case.pattern)}
        yield from ((name, node.subject) for name in sorted(names))
    elif type(node).__name__ == "TypeAlias":  # type f = np.dot, from Python 3.12 on
        yield node.name.id, node.value
    elif isinstance(node, ast.Call) and _is_table(getattr(node.func, "value", None)):
        yield from ((k.arg, k.value) for k in node.keywords if k.arg)  # globals().update(m=np)
    elif called(node) == "setattr" and len(node.args) == 3:
        name = constant_text(node.args[1])  # of a module, it may be this one or builtins
        yield from [(name, node.args[2])] if name else []


class Change(NamedTuple):
    """Something that is put into an object that has a name.

    by_call : by a call of a method that need not keep it: ops.append(f), but also np.exp(x, out=y)
    """

    name: str
    value: ast.AST
    by_call: bool


def changes(body: Iterable[ast.AST]) -> Iterator[Change]:
    """What is put into an object that has a name: ops["m"] = np.dot, K.m = ..., ops.append(...).

    In a function names of its own are no global names of other cells: neither the object nor what
    is put into it.
    """
    stack: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset()) for node in body]
    while stack:
        node, local = stack.pop()
        for change in _changes_by(node):
            if change.name not in local:
                yield change._replace(value=_closed(change.value, local))
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            local |= own_names(node).keys()
        stack += [(child, local) for child in children(node)]


def _changes_by(node: ast.AST) -> Iterator[Change]:
    by_call = False
    if isinstance(node, ast.Assign):
        targets, values = node.targets, [node.value]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        targets, values = [node.value.func], given_to(node.value)
        by_call = getattr(node.value.func, "attr", None) not in _PUTTING
        if getattr(node.value.func, "id", "") == "setattr" and len(values) == 3:
            targets, values, by_call = [ast.Attribute(values[0], "")], values[2:], False
        elif called(node.value) == "exec" and len(values) > 1:  # exec(text, names)
            targets = [ast.Attribute(names, "") for names in values[1:]]
            values, by_call = run_texts(ast.Module([node], []))[0], False
    else:
        return
    for target in targets:
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            for name in _base_names(target):
                yield from (Change(name, value, by_call) for value in values)


class FromInside(ast.Lambda):
    """An expression with names that only a function knows, as something that stands outside."""


def _closed(value: ast.AST, local: Set[str]) -> ast.AST:
    """The same expression where a function's own names mean nothing outside."""
    used = {node.id for node in walk(value) if isinstance(node, ast.Name)} & local
    if not used or not isinstance(value, ast.expr):
        return value
    parameters = ast.arguments([], [ast.arg(name) for name in sorted(used)], None, [], [], None, [])
    return ast.fix_missing_locations(ast.copy_location(FromInside(parameters, value), value))


class Patch(NamedTuple):
    """What may replace a part of an object: np.add = np.dot.

    around : the functions that it stands in, outermost first
    """

    around: tuple[ast.AST, ...]
    target: ast.expr
    value: ast.expr


def patches(body: Iterable[ast.AST]) -> Iterator[Patch]:
    """Everything that may replace a part of an object, in functions too."""
    stack: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(node, ()) for node in body]
    while stack:
        node, around = stack.pop()
        yield from (Patch(around, target, value) for target, value in _patched(node))
        inner = (*around, node) if isinstance(node, (*FUNCTIONS, ast.Lambda)) else around
        stack += [(child, inner) for child in children(node)]


def announced(body: Iterable[ast.AST]) -> Iterator[Patch]:
    """(around, g, f) of @g def f, of @g(x) def f and of g(x)(f), in functions too."""
    stack: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(node, ()) for node in body]
    while stack:
        node, around = stack.pop()
        for part in getattr(node, "decorator_list", ()):
            yield Patch(around, part.func if isinstance(part, ast.Call) else part, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            yield from (Patch(around, node.func.func, value) for value in given_to(node))
        inner = (*around, node) if isinstance(node, (*FUNCTIONS, ast.Lambda)) else around
        stack += [(child, inner) for child in children(node)]


def _patched(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """np.add = f, vars(np)["add"] = f, vars(np).update(add=f), and any g(np, "add", f)."""
    if isinstance(node, ast.Assign):
        parts = [t for t in node.targets if isinstance(t, (ast.Attribute, ast.Subscript))]
        yield from ((part.value, node.value) for part in parts)
    elif isinstance(node, ast.AugAssign):  # globals() |= {...}
        yield node.target, node.value
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _PUTTING:
            yield from ((node.func.value, value) for value in given_to(node))
        if node.args:
            yield from ((node.args[0], value) for value in given_to(node)[1:])


# Methods that put something into a dictionary or an object.
_PUTTING = ("update", "setdefault", "__setitem__", "__setattr__")


def given_to(call: ast.Call) -> list[ast.expr]:
    """All arguments of a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _base_names(node: ast.AST) -> list[str]:
    """The name that x.y[0].z begins with."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []


def _import_bindings(node: ast.Import) -> Iterator[tuple[str, Import]]:
    for alias in node.names:
        if alias.asname:
            yield alias.asname, Import(alias.name, node.lineno)
        else:
            top = alias.name.split(".")[0]
            yield top, Import(top, node.lineno)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Subscript) and _is_table(target.value):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            if isinstance(key, str):
                yield key, node.value  # globals()["m"] = np
        pairs = [(target, node.value)]
        both = (ast.Tuple, ast.List)
        unpacked = isinstance(target, both) and isinstance(node.value, both)
        if unpacked and len(target.elts) == len(node.value.elts):
            pairs = list(zip(target.elts, node.value.elts))
        for part, value in pairs:
            if isinstance(part, ast.Attribute) and _base_names(part) in _EVERYWHERE:
                yield part.attr, value
            for name in _target_names(part):
                yield name, value if value is not None else ast.Constant(None)


def _captured(pattern: ast.AST) -> Iterator[str]:
    """The names that a pattern of `match` binds."""
    for node in walk(pattern):
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def _is_table(node: ast.AST | None) -> bool:
    """globals() and its kin."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return name in ("globals", "locals", "vars")


def _target_names(target: ast.AST) -> list[str]:
    return [
        node.id
        for node in walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


@lru_cache(maxsize=1024)
def own_names(node: ast.AST) -> dict[str, list[ast.AST | Import]]:
    """What the names are that a function, lambda or comprehension has for itself."""
    names: dict[str, list[ast.AST | Import]] = {}
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        for argument in argument_names(arguments):
            names.setdefault(argument, []).append(PARAMETER)
    if isinstance(node, FUNCTIONS):
        declared = _declared(node, (ast.Global, ast.Nonlocal))
        for name, bound in bindings(node.body):
            if name not in declared:
                names.setdefault(name, []).append(bound)
        for name, bound in bound_from_inside(node, ast.Nonlocal):
            names.setdefault(name, []).append(bound)
    for generator in getattr(node, "generators", ()):
        for name in _target_names(generator.target):
            names.setdefault(name, []).append(PARAMETER)
    return names


def defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    """What parameters are where a call gives them nothing."""
    plain = [*arguments.posonlyargs, *arguments.args]
    found = dict(zip([a.arg for a in plain[::-1]], arguments.defaults[::-1]))
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults)
    return found | {a.arg: value for a, value in pairs if value is not None}


def declared_global(node: ast.AST) -> set[str]:
    """Names of a function's or class's body that are global although a scope around has them."""
    return _declared(node, ast.Global) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else set()


def parameter_of(value: ast.AST, call: ast.Call, function: ast.AST, skip: int = 0) -> str | None:
    """The parameter that an argument becomes; the first `skip` are not given by the call."""
    keywords = [keyword.arg for keyword in call.keywords if keyword.value is value]
    if keywords:
        return keywords[0]
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args][skip:]
    place = next(i for i, part in enumerate(call.args) if part is value)
    if place < len(parameters):
        return parameters[place].arg
    return arguments.vararg.arg if arguments.vararg else None


def argument_names(arguments: ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.arg for a in every]


def _declared(function: ast.AST, kinds: Any) -> set[str]:
    """Names that a function declares global or nonlocal; not those of functions inside it."""
    found: set[str] = set()
    stack = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            found |= set(node.names)
        if not isinstance(node, _OWN_NAMES):
            stack += children(node)
    return found


def bound_from_inside(tree: ast.AST, kind: Any) -> Iterator[tuple[str, ast.AST | Import]]:
    """What functions and classes inside bind around them: by `global m`, by `nonlocal m`."""
    for inner in walk(tree):
        if inner is not tree and isinstance(inner, (*FUNCTIONS, ast.ClassDef)):
            names = _declared(inner, kind)
            own = own_names(inner).keys()
            for name, bound in bindings(inner.body):
                if name in names:
                    yield name, bound if isinstance(bound, Import) else _closed(bound, own)

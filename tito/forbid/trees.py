"""Walks through syntax trees that are walked many times: each node's parts are looked up once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Half of a syntax tree. They hold nothing, bind nothing, and no route is one of them.
LEAVES = (ast.expr_context, ast.Constant, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


def children(node: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes right below one, but leaves."""
    found = getattr(node, "_parts", None)
    if found is None:
        found = tuple(c for c in ast.iter_child_nodes(node) if not isinstance(c, LEAVES))
        node._parts = found
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, but leaves, in the order of `ast.walk`."""
    level = [node]
    while level:
        yield from level
        level = [child for parent in level for child in children(parent)]


def mangle(tree: ast.AST) -> None:
    """Give private names the form in which Python knows them: __x in a class K is _K__x."""
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, owner = stack.pop()
        inner = node.name.lstrip("_") if isinstance(node, ast.ClassDef) else owner
        if owner:
            _mangle_names(node, owner)
        stack += [(child, inner) for child in ast.iter_child_nodes(node)]


def _mangle_names(node: ast.AST, owner: str) -> None:
    def mangled(name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{owner}{name}" if private else name

    for field in ("id", "attr", "name", "asname", "arg"):
        if type(getattr(node, field, None)) is str:
            setattr(node, field, mangled(getattr(node, field)))
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        node.names = [mangled(name) for name in node.names]

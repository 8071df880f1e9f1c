"""Loops that take no turns over data."""

from __future__ import annotations

import ast

from .bindings import COMPREHENSIONS
from .trees import children, walk

FEW = 8


def is_written_out(node: ast.AST) -> bool:
    """Whether a loop goes through a few things that stand in the text, and holds no other loop.

    for name, v in (("x", x), ("y", y)): two lines more would say the same.
    """
    if isinstance(node, COMPREHENSIONS):
        sources, inside = [g.iter for g in node.generators], list(children(node))
    elif isinstance(node, ast.For):
        sources, inside = [node.iter], [*node.body, *node.orelse]
    else:
        return False
    few = all(
        isinstance(source, (ast.Tuple, ast.List))
        and len(source.elts) <= FEW
        and not any(isinstance(part, ast.Starred) for part in source.elts)
        for source in sources
    )
    loops = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
    parts = (part for child in inside for part in walk(child))
    return few and len(sources) == 1 and not any(isinstance(part, loops) for part in parts)

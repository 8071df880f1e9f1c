"""Cell text as the judge looks at it: hidden regions, magics, imports, comparison."""

from __future__ import annotations

import ast
from functools import lru_cache

from tito.forbid import python_source, tree_of
from tito.notebook import Cell
from tito.strip import HIDDEN_TESTS, regions


def hidden_lines(cell: Cell) -> set[int]:
    """Numbers of the lines in hidden regions, markers included; UserError for markers unpaired."""
    return {
        line
        for region in regions(cell, HIDDEN_TESTS)
        for line in range(region.begin, region.end + 1)
    }


def visible(cell: Cell) -> str:
    """The cell without its hidden regions, as students have it. Line numbers stay."""
    hidden = hidden_lines(cell)
    lines = cell.source.split("\n")
    return "\n".join("" if n in hidden else text for n, text in enumerate(lines, 1))


@lru_cache(maxsize=1024)
def is_python(source: str) -> bool:
    """The cell parses, magics and top-level await (which a notebook allows) aside."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        compile(python_source(source), "<cell>", "exec", flags)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def same_text(one: str, other: str) -> bool:
    """Whether two cells say the same; see `canonical`. Comments alone say nothing."""
    return (
        normal(one) == normal(other)
        or canonical(one) == canonical(other)
        or (no_code(one) and no_code(other))
    )


@lru_cache(maxsize=1024)
def no_code(source: str) -> bool:
    """The cell holds comments at most."""
    tree = tree_of(source)
    return tree is not None and not tree.body


@lru_cache(maxsize=1024)
def canonical(source: str) -> str:
    """What a cell does, as text: layout, comments and the words of asserts do not count."""
    tree = tree_of(source)
    if tree is None or not tree.body:
        return normal(source)
    try:
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                node.msg = None
        return ast.dump(tree)
    except RecursionError:
        return normal(source)


def normal(source: str) -> str:
    """The text without blank lines and without blanks at line ends."""
    lines = (line.rstrip() for line in source.split("\n"))
    return "\n".join(line for line in lines if line)


def import_lines(source: str) -> list[str]:
    """The import statements at the top level of a cell, one a line."""
    return list(_import_lines(source))


@lru_cache(maxsize=1024)
def _import_lines(source: str) -> list[str]:
    tree = tree_of(python_source(source))
    body = tree.body if tree else []
    return [ast.unparse(n) for n in body if isinstance(n, (ast.Import, ast.ImportFrom))]

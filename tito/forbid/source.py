"""A cell's text as Python."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

# Cell magics whose body is Python that runs in the notebook's own namespace.
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "memit", "mprun")
_MAGIC_LINE = re.compile(r"^(\s*)(?:[%!?]|.*\?\s*$)")


@lru_cache(maxsize=1024)
def python_source(source: str) -> str:
    """A cell with its magics and `!` lines blanked, so that it parses; line numbers stay."""
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        magic = lines[first][2:].split(maxsplit=1)
        if not magic or magic[0] not in _PYTHON_MAGICS:
            return ""
        lines[first] = ""
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = [_without_magic(line) for line in lines]
    return "\n".join(lines)


def _without_magic(line: str) -> str:
    match = _MAGIC_LINE.match(line)
    return f"{match.group(1)}pass" if match else line


@lru_cache(maxsize=256)
def parsed(source: str) -> ast.Module:
    """A cell's syntax tree, which nobody may change; an empty one if it does not parse."""
    try:
        return ast.parse(python_source(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
